import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseSync } from 'oxc-parser';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { optionSchema } from '../../scripts/load/options.js';
import { optionSchema as proveOptions } from '../../scripts/prove/options.js';
import { mentionsOf, operatorFiles, pages, tableOf, textOf, wrong } from './documents.js';

const scripts: Record<string, string> = JSON.parse(textOf('package.json')).scripts;

const commands = Object.keys(scripts);

/** The usage that a command prints with `--help`. */
function usageOf(file: string): string {
  const [, usage] = /^const usage = `([\s\S]*?)`;$/m.exec(textOf(file)) ?? [];
  if (!usage) throw new Error(`${file} has no usage`);
  return usage;
}

interface Node {
  type: string;
  [field: string]: unknown;
}

/** The names of the `options` that a command's file passes to readArguments. */
function optionsOf(file: string): string[] {
  const found: string[] = [];
  function visit(value: unknown, inCall: boolean): void {
    if (Array.isArray(value)) for (const one of value) visit(one, inCall);
    if (typeof (value as Node | null)?.type !== 'string') return;
    const node = value as Node;
    const callee = node.callee as { name?: string } | undefined;
    const isCall = node.type === 'CallExpression' && callee?.name === 'readArguments';
    const key = node.key as { name?: string } | undefined;
    const { properties } = (node.value ?? {}) as {
      properties?: { key: { name?: string; value?: string } }[];
    };
    if (inCall && node.type === 'Property' && key?.name === 'options' && properties)
      found.push(...properties.map((one) => one.key.name ?? one.key.value ?? ''));
    for (const child of Object.values(node)) visit(child, inCall || isCall);
  }
  visit(parseSync(file, textOf(file)).program, false);
  return found;
}

/** The file behind each command of ours. */
const files = new Map(
  commands.flatMap((name) => {
    const [, path] = /dist\/(scripts\/[\w-]+)\.js/.exec(scripts[name] ?? '') ?? [];
    return path ? [[name, `${path}.ts`] as const] : [];
  }),
);

/** Options that are not passed to readArguments literally. */
const elsewhere: Record<string, string[]> = {
  'scripts/load.ts': Object.keys(optionSchema.shape),
  'scripts/prove.ts': Object.keys(proveOptions.shape),
  // Its other options are mocha's.
  'scripts/test.ts': ['base', 'reporter'],
};

const inUsage = (usage: string) =>
  [...usage.replaceAll('npm run --silent', 'npm run').matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(
    ([, name = '']) => name,
  );

describe('commands', () => {
  it('named in documents exist', () => {
    const named = mentionsOf(/\bnpm run (?:--silent )?([a-z][\w:]*)/g, [...pages, ...operatorFiles]);
    expect(named.length).to.be.greaterThan(60);
    expect(wrong(named, ({ found }) => found in scripts)).to.deep.equal([]);
  });

  it('are all in the table of docs/reference/commands.md', () => {
    const rows = tableOf('docs/reference/commands.md', '| command | does |').map((cells) => cells.join(' '));
    const isNamed = (name: string) =>
      rows.some((row) => new RegExp(`\`npm (?:run (?:--silent )?)?${name}(?![\\w:])`).test(row));
    expect(commands.filter((name) => !isNamed(name))).to.deep.equal([]);
  });

  it('each have one file in scripts/, whose usage begins with the npm call', () => {
    for (const [name, file] of files) {
      const lines = usageOf(file).split('\n');
      const calls = lines.filter((line) =>
        new RegExp(`\\bnpm (?:run (?:--silent )?)?${name}(?![\\w:])`).test(line),
      );
      expect(calls, name).to.not.be.empty;
      expect(lines[0], name).to.match(/^Usage: npm /);
      expect(textOf(file), `${name} answers --help`).to.include('await runCommand(usage, ');
    }
    const own = readdirSync(join(projectRoot(), 'scripts')).filter((name) => name.endsWith('.ts'));
    expect([...new Set(files.values())].map((path) => path.slice('scripts/'.length)).sort()).to.deep.equal(
      own.sort(),
    );
  });

  it('document exactly the options that they accept', () => {
    for (const file of new Set(files.values())) {
      const taken = elsewhere[file] ?? optionsOf(file);
      expect(new Set(inUsage(usageOf(file))), file).to.deep.equal(new Set(taken));
    }
  });

  it('are documented with options that they accept', () => {
    const calls = mentionsOf(/\bnpm ((?:run (?:--silent )?[\w:]+|test|start)(?: --(?: +[^\s`#|)\\]+)+))/g, [
      ...pages,
      ...operatorFiles,
    ]);
    const rows = tableOf('docs/reference/commands.md', '| command | does |').map((cells) => ({
      path: 'docs/reference/commands.md',
      found: cells.join(' ').replaceAll('`', '').replace(/^npm /, ''),
    }));
    expect(calls.length).to.be.greaterThan(20);
    const takes = ({ found }: { found: string }) => {
      const name = found.replace(/^run (?:--silent )?/, '').split(/[\s`]/)[0] ?? '';
      const file = files.get(name);
      const given = inUsage(`npm ${found}`);
      return given.every((option) => file && inUsage(usageOf(file)).includes(option));
    };
    expect(
      wrong([...calls, ...rows.filter(({ found }) => files.has(found.split(/[\s|]/)[1] ?? ''))], takes),
    ).to.deep.equal([]);
  });

  it('are documented with subcommands that they know', () => {
    const known: Record<string, RegExp> = {
      cluster: /^(?:status|logs|scale|reload|stop)$/,
      db: /^(?:dump|restore)$/,
      load: new RegExp(
        `^(?:SCENARIO|all|${readdirSync(join(projectRoot(), 'scripts/load/scenarios'))
          .map((name) => name.replace('.ts', ''))
          .join('|')})$`,
      ),
    };
    const calls = mentionsOf(/\bnpm run ((?:cluster|db|load) -- \w+)/g, [...pages, ...operatorFiles]);
    expect(calls.length).to.be.greaterThan(15);
    const isKnown = (call: string) => {
      const [name = '', word = ''] = call.split(' -- ');
      return known[name]?.test(word) ?? false;
    };
    expect(wrong(calls, ({ found }) => isKnown(found))).to.deep.equal([]);
  });
});
