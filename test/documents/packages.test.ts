import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { tableOf, textOf } from './documents.js';

/** An entry of the lockfile. */
interface Entry {
  license?: unknown;
  /** To a package of this repository, whose folder `resolved` names. */
  link?: boolean;
  integrity?: string;
  /** Of development alone. */
  dev?: boolean;
  optional?: boolean;
  /** Of old packages a list. */
  engines?: { node?: string };
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

const lockfile: { packages: Record<string, Entry> } = JSON.parse(textOf('package-lock.json'));
/** The project itself, its own packages, and the links to these. */
const isOwn = (path: string) =>
  path === '' || path.startsWith('packages/') || lockfile.packages[path]?.link === true;
const entries = Object.entries(lockfile.packages)
  .filter(([path]) => !isOwn(path))
  .map(([path, entry]) => ({ ...entry, name: path.replace(/^.*node_modules\//, '') }));
const production = entries.filter(({ dev }) => !dev);

/**
 * Prebuilt binaries, a package for each platform. The registry in use lacked some of them when the lockfile was
 * written, so that these entries have neither a checksum nor a licence.
 */
const binaries = [
  '@biomejs/cli-',
  '@oxc-parser/binding-',
  // MIT, like the others of its kind.
  '@msgpackr-extract/msgpackr-extract-',
];
const isBinary = (name: string) => binaries.some((prefix) => name.startsWith(prefix));

/** Licences that a package does not declare in the usual way. */
const declaredOtherwise: Record<string, string> = {
  // `Apache-2`.
  '@pm2/js-api': 'Apache-2.0',
  // In its LICENSE file only.
  'cli-tableau': 'MIT',
  // A choice of this and the public domain, as a list.
  tv4: 'MIT',
};

function licenceOf({ name, license }: { name: string; license?: unknown }): unknown {
  if (name in declaredOtherwise) return declaredOtherwise[name];
  return license ?? (isBinary(name) ? 'MIT' : undefined);
}

/** Whether a range of versions includes Node 20.19, the oldest that is supported. */
const includesOldest = (range: string): boolean =>
  range.split('||').some((part) => {
    const [, operator, major = 0, minor = 0] = /^(>=|\^)? ?(\d+)(?:\.(\d+))?/.exec(part.trim()) ?? ['', '>='];
    const [, below = Infinity] = /<(\d+)/.exec(part) ?? [];
    const isLater = Number(major) > 20 || (Number(major) === 20 && Number(minor) > 19);
    return !isLater && Number(below) > 20 && (operator === '>=' || Number(major) === 20);
  });

describe('package-lock.json', () => {
  it('has no package that npm ci would warn about on the oldest Node', () => {
    for (const range of ['>=22', '18 || >=22', '^20.20.0', '>=14 <18'])
      expect(includesOldest(range), range).to.equal(false);
    const others = entries.filter(
      ({ optional, engines }) => !optional && !includesOldest(engines?.node ?? '*'),
    );
    expect(others.map(({ name }) => name)).to.deep.equal([]);
  });

  it('has a checksum for every package that npm ci installs on Linux', () => {
    const without = entries.filter(({ integrity }) => !integrity?.startsWith('sha512-'));
    const isInstalled = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Entry) =>
      os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && libc.includes('glibc');
    const wrong = without.filter((entry) => !entry.optional || !isBinary(entry.name) || isInstalled(entry));
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
    const needless = binaries.filter((prefix) => !without.some(({ name }) => name.startsWith(prefix)));
    expect(needless).to.deep.equal([]);
  });

  it('names no host', () => {
    const aboutAuthors = ['funding', 'license'];
    const foreign = Object.fromEntries(Object.entries(lockfile.packages).filter(([, { link }]) => !link));
    const rest = JSON.stringify(foreign, (key, value) => (aboutAuthors.includes(key) ? undefined : value));
    expect(rest).not.to.match(/:\/\/|"resolved"|git[+@]/);
  });
});

describe('the binaries of uWebSockets.js', () => {
  it('have the blob ids of SECURITY.md', () => {
    const folder = join(projectRoot(), 'node_modules/uWebSockets.js/dist/bin');
    const files = readdirSync(folder).filter((name) => /_linux_(?:x64|arm64)_/.test(name));
    const ids = files.sort().map((name) => {
      const content = readFileSync(join(folder, name));
      // How Git names a file. (gitformat-pack(5), "object types")
      const id = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
      return [`\`${name}\``, `\`${id}\``];
    });
    expect(tableOf('SECURITY.md', '| file | blob id |')).to.deep.equal(ids);
  });
});

describe('the licences of production dependencies', () => {
  const rows = tableOf('SECURITY.md', '| licence | of |').map(([licences = '', of = '']) => ({
    licences: [...licences.matchAll(/`([^`]+)`/g)].map(([, licence]) => licence),
    names: [...of.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  }));

  it('are those of SECURITY.md', () => {
    const isListed = (entry: (typeof production)[number]) =>
      rows.some(
        ({ licences, names }) =>
          licences.includes(licenceOf(entry) as string) && (names.length === 0 || names.includes(entry.name)),
      );
    expect(production.length).to.be.greaterThan(100);
    expect(
      production.filter((entry) => !isListed(entry)).map((entry) => `${entry.name}: ${licenceOf(entry)}`),
    ).to.deep.equal([]);
  });

  it('are listed only if a package has them', () => {
    const used = new Set(production.map(licenceOf));
    expect(rows.flatMap(({ licences }) => licences).filter((licence) => !used.has(licence))).to.deep.equal(
      [],
    );
    const names = new Set(production.map(({ name }) => name));
    expect(Object.keys(declaredOtherwise).filter((name) => !names.has(name))).to.deep.equal([]);
  });
});
