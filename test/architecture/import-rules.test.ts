import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { expect } from 'chai';
import { parseSync } from 'oxc-parser';
import { projectRoot } from '../../domain/platform/process/project-root.js';

const root = projectRoot();
const folders = ['domain', 'gateway', 'http', 'scripts'];

/** The embedded database, which knows nothing of the service. */
const database = 'packages/embedded-mongo';

interface Import {
  /** Path of the importing file from the project's root. */
  from: string;
  /** Path of the imported file from there, or the package's name. */
  to: string;
  line: number;
  isPackage: boolean;
  /** Erased when compiled. */
  typesOnly: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .map((name) => posix.join(folder, name.split('\\').join('/')));
}

/** Everything a file imports, statically, for types alone, by re-export or by `import('…')`. */
function importsOf(from: string): Import[] {
  const text = readFileSync(join(root, from), 'utf8');
  const { module, errors } = parseSync(from, text);
  if (errors.length > 0) throw new Error(`${from}: ${errors[0]?.message}`);
  const named: [specifier: string, at: number, typesOnly: boolean][] = [
    ...module.staticImports.map(({ moduleRequest, start, entries }): [string, number, boolean] => [
      moduleRequest.value,
      start,
      entries.length > 0 && entries.every(({ isType }) => isType),
    ]),
    ...module.staticExports.flatMap(({ entries, start }) =>
      entries.flatMap(({ moduleRequest, isType }): [string, number, boolean][] =>
        moduleRequest ? [[moduleRequest.value, start, isType]] : [],
      ),
    ),
    ...module.dynamicImports.map(({ moduleRequest, start }): [string, number, boolean] => [
      text.slice(moduleRequest.start, moduleRequest.end).replace(/^['"`]|['"`]$/g, ''),
      start,
      false,
    ]),
  ];
  return named.map(([specifier, at, typesOnly]) => {
    const isPackage = !specifier.startsWith('.');
    const to = isPackage
      ? specifier.replace(/^node:/, '').replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')
      : relative(root, join(root, dirname(from), specifier)).replace(/\.js$/, '.ts');
    return { from, to, line: text.slice(0, at).split('\n').length, isPackage, typesOnly };
  });
}

/** The area of a file of the domain: `chat` for domain/chat/create-room.ts. */
const areaOf = (path: string) => /^domain\/(members|community|adoption|chat|notifications)\//.exec(path)?.[1];

/** Layers from the bottom up; a path belongs to the first that matches. */
const layers: [RegExp, rank: number][] = [
  [/^domain\/kernel\//, 0],
  [/^domain\/platform\//, 1],
  [/^domain\/[^/]+\//, 2],
  [/^domain\//, 3],
  // A main.ts assembles a process, as scripts do.
  [/\/main\.ts$/, 5],
  [/^(?:gateway|http)\//, 4],
  [/^scripts\//, 5],
];
const rank = (path: string) => layers.find(([paths]) => paths.test(path))?.[1] as number;

describe('import rules', () => {
  const all = folders.flatMap(sourceFiles).flatMap(importsOf);
  const own = all.filter(({ isPackage }) => !isPackage);
  const packages = all.filter(({ isPackage, to }) => isPackage && !builtinModules.includes(to));

  const expectNone = (broken: Import[]) =>
    expect(broken.map(({ from, line, to }) => `${from}:${line} imports ${to}`)).to.deep.equal([]);

  it('find imports to check', () => {
    expect(own.length).to.be.greaterThan(300);
    expect(packages.length).to.be.greaterThan(50);
  });

  it('lead downwards only: scripts, gateway and http, areas, platform, kernel', () => {
    expectNone(own.filter(({ from, to }) => rank(to) > rank(from)));
  });

  it('lead from area to area through index.ts only', () => {
    const isForeign = ({ from, to }: Import) => areaOf(to) !== undefined && areaOf(from) !== areaOf(to);
    // Load tests store the service's records past the domain, and runs remove their own: no use case does either.
    const changesRecords = ({ from, to }: Import) =>
      (from.startsWith('scripts/load/') || from === 'scripts/run-accounts/remove-records.ts') &&
      /(?:\.model|\/shared-inserts)\.ts$/.test(to);
    // The operators' table of limits shows constants where they are.
    const isShown = ({ from }: Import) => from === 'scripts/docs/limits-table.ts';
    const isIndex = ({ to }: Import) => to === `domain/${areaOf(to)}/index.ts`;
    expectNone(own.filter((one) => isForeign(one) && !isIndex(one) && !changesRecords(one) && !isShown(one)));
  });

  it('let no other area use notifications: it listens to events', () => {
    const isUse = ({ from, to }: Import) => areaOf(to) === 'notifications' && areaOf(from) !== undefined;
    expectNone(own.filter((one) => isUse(one) && areaOf(one.from) !== 'notifications'));
  });

  it('keep gateway and http apart', () => {
    const [gateway, http] = [/^gateway\//, /^http\//];
    expectNone(
      own.filter(
        ({ from, to }) =>
          !from.endsWith('/main.ts') &&
          ((gateway.test(from) && http.test(to)) || (http.test(from) && gateway.test(to))),
      ),
    );
  });

  it('lead downwards in the embedded database, in the order of its README', () => {
    const base = `${database}/src`;
    const readme = readFileSync(join(root, database, 'README.md'), 'utf8');
    const order = Array.from(readme.matchAll(/^ {4}(\w+)\//gm), ([, folder]) => folder);
    const folders = readdirSync(join(root, base), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(order).to.have.members(folders.map(({ name }) => name));
    const inside = sourceFiles(base)
      .flatMap(importsOf)
      .filter(({ isPackage }) => !isPackage);
    // Files beside the folders come before them.
    const depth = (path: string) => order.indexOf(path.slice(base.length + 1).split('/')[0]);
    expectNone(inside.filter(({ from, to }) => depth(to) < depth(from)));
  });

  it('do not cross the border of the embedded database but by its name', () => {
    const inside = sourceFiles(database).flatMap(importsOf);
    expect(inside.length).to.be.greaterThan(100);
    expectNone(
      inside.filter(({ isPackage, to }) =>
        isPackage ? to === 'embedded-mongo' : !to.startsWith(`${database}/`),
      ),
    );
    const others = [...all, ...sourceFiles('test').flatMap(importsOf)];
    expectNone(others.filter(({ to }) => to.startsWith('packages/')));
    const { dependencies } = JSON.parse(readFileSync(join(root, database, 'package.json'), 'utf8'));
    const used = sourceFiles(`${database}/src`)
      .flatMap(importsOf)
      .filter((one) => one.isPackage);
    const named = new Set(used.map(({ to }) => to).filter((to) => !builtinModules.includes(to)));
    expect([...named].sort()).to.deep.equal(Object.keys(dependencies).sort());
  });

  const confined: [name: string, allowed: RegExp][] = [
    ['mongoose', /\.model\.ts$|^domain\/platform\/mongo\//],
    // Reads that go past mongoose: a use case calls a function of the model.
    ['domain/platform/mongo/records.ts', /\.model\.ts$|^domain\/platform\/mongo\//],
    ['socket.io', /^gateway\//],
    ['socket.io-adapter', /^gateway\//],
    ['@socket.io/redis-adapter', /^domain\/platform\/cluster\/socket-adapter\.ts$/],
    ['uWebSockets.js', /^gateway\/engine\/[a-z]+\.uws\.ts$/],
    ['engine.io', /^gateway\/engine\/engine\.ws\.ts$/],
    ['koa', /^http\//],
    ['@koa/router', /^http\//],
  ];
  for (const [name, allowed] of confined) {
    it(`keep ${name} in its place`, () => {
      const uses = all.filter(({ to, from }) => to === name && !from.startsWith('scripts/'));
      expect(uses, `${name} is used`).not.to.have.length(0);
      expectNone(uses.filter(({ from }) => !allowed.test(from)));
    });
  }

  it('do not import pm2, whose licence is another: it is called as a program', () => {
    expect(packages.filter(({ to }) => to === 'pm2').map(({ from }) => from)).to.deep.equal([]);
  });

  const filesWith = (text: RegExp) =>
    ['domain', 'gateway', 'http']
      .flatMap(sourceFiles)
      .filter((path) => text.test(readFileSync(join(root, path), 'utf8')));

  it('leave process.env to platform/settings/config.ts', () => {
    expect(filesWith(/\bprocess\s*\.\s*env\b/)).to.deep.equal(['domain/platform/settings/config.ts']);
  });

  it('leave the driver’s collections to models and platform/mongo/', () => {
    const users = filesWith(/\.collection\b/);
    expect(users.filter((path) => !/\.model\.ts$|^domain\/platform\/mongo\//.test(path))).to.deep.equal([]);
  });

  it('form no cycle', () => {
    const next = new Map<string, string[]>();
    // Types alone are gone when the modules load; in the domain they count, so that its files read one way.
    for (const { from, to, typesOnly } of own)
      if (!typesOnly || from.startsWith('domain/')) next.set(from, [...(next.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    function visit(path: string, trail: string[]): void {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
        return;
      }
      state.set(path, 'open');
      for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
      state.set(path, 'done');
    }
    for (const path of next.keys()) visit(path, []);
    expect(cycles).to.deep.equal([]);
  });
});
