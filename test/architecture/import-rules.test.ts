import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { expect } from 'chai';
import { parseSync } from 'oxc-parser';
import { projectRoot } from '../../domain/platform/project-root.js';

const root = projectRoot();
const folders = ['domain', 'gateway', 'http', 'scripts'];

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
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
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
const areaOf = (path: string) => /^domain\/([^/]+)\//.exec(path)?.[1];
const areas = ['members', 'community', 'adoption', 'chat', 'notifications'];

describe('import rules', () => {
  const all = folders.flatMap(sourceFiles).flatMap(importsOf);
  const own = all.filter(({ isPackage }) => !isPackage);
  const packages = all.filter(({ isPackage, to }) => isPackage && !builtinModules.includes(to));
  const list = (broken: Import[]) => broken.map(({ from, line, to }) => `${from}:${line} imports ${to}`);

  function expectNone(broken: Import[]): void {
    expect(list(broken)).to.deep.equal([]);
  }

  it('are looked for where there is something to find', () => {
    expect(own.length).to.be.greaterThan(300);
    expect(packages.length).to.be.greaterThan(50);
  });

  it('go one way: kernel, platform, areas, gateway and http, scripts', () => {
    function rank(path: string): number {
      if (path.startsWith('domain/kernel/')) return 0;
      if (path.startsWith('domain/platform/')) return 1;
      if (areas.includes(areaOf(path) ?? '')) return 2;
      if (/^domain\/[^/]+$/.test(path)) return 3;
      // A main.ts puts a process together, as scripts do.
      if (path.endsWith('/main.ts')) return 5;
      if (/^(gateway|http)\//.test(path)) return 4;
      if (path.startsWith('scripts/')) return 5;
      throw new Error(`${path} belongs to no layer`);
    }
    expectNone(own.filter(({ from, to }) => rank(to) > rank(from)));
  });

  it('between areas go through index.ts alone', () => {
    expectNone(
      own.filter(({ from, to }) => {
        const area = areaOf(to);
        return (
          area !== undefined &&
          areas.includes(area) &&
          areaOf(from) !== area &&
          to !== `domain/${area}/index.ts`
        );
      }),
    );
  });

  it('let no area use notifications: it listens to events', () => {
    expectNone(
      own.filter(
        ({ from, to }) =>
          areaOf(to) === 'notifications' &&
          areas.includes(areaOf(from) ?? '') &&
          areaOf(from) !== 'notifications',
      ),
    );
  });

  it('keep gateway and http apart', () => {
    expectNone(
      own.filter(
        ({ from, to }) =>
          !from.endsWith('/main.ts') &&
          ((from.startsWith('gateway/') && to.startsWith('http/')) ||
            (from.startsWith('http/') && to.startsWith('gateway/'))),
      ),
    );
  });

  const confined: [name: string, allowed: RegExp][] = [
    ['mongoose', /\.model\.ts$|^domain\/platform\/mongo\//],
    ['socket.io', /^gateway\/|^domain\/platform\/live-emitter\.ts$/],
    ['socket.io-adapter', /^gateway\//],
    ['@socket.io/redis-adapter', /^domain\/platform\/socket-adapter\.ts$/],
    ['uWebSockets.js', /^gateway\//],
    ['koa', /^http\//],
    ['@koa/router', /^http\//],
    ['koa-body', /^http\//],
    ['dotenv', /^domain\/platform\/config\.ts$/],
  ];
  for (const [name, allowed] of confined) {
    it(`keep ${name} where it belongs`, () => {
      const uses = packages.filter(({ to, from }) => to === name && !from.startsWith('scripts/'));
      expect(uses, `${name} is used`).not.to.have.length(0);
      expectNone(uses.filter(({ from }) => !allowed.test(from)));
    });
  }

  it('leave the environment to platform/config.ts', () => {
    const readers = ['domain', 'gateway', 'http']
      .flatMap(sourceFiles)
      .filter((path) => /\bprocess\s*\.\s*env\b/.test(readFileSync(join(root, path), 'utf8')));
    expect(readers).to.deep.equal(['domain/platform/config.ts']);
  });

  it('are no circle', () => {
    const next = new Map<string, string[]>();
    // Types alone are gone when the modules load; in the domain they count, so that its files read one way.
    for (const { from, to, typesOnly } of own)
      if (!typesOnly || from.startsWith('domain/')) next.set(from, [...(next.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    function visit(path: string, trail: string[]): void {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        circles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
        return;
      }
      state.set(path, 'open');
      for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
      state.set(path, 'done');
    }
    for (const path of next.keys()) visit(path, []);
    expect(circles).to.deep.equal([]);
  });
});
