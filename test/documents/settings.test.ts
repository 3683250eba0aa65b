import { expect } from 'chai';
import { ConfigError, loadConfig, variableNames } from '../../domain/platform/settings/config.js';
import { filesUnder, mentionsOf, operatorFiles, pages, tableOf, textOf, wrong } from './documents.js';

const load = (env: Record<string, string> = {}) => loadConfig(env, '/nonexistent');

/** Variables that are not settings: those of other programs, of CI and of tests. */
const notOurs = [
  // MALLOC_ARENA_MAX is the C library's.
  ...['CI', 'NODE_V8_COVERAGE', 'PM2_HOME', 'MALLOC_ARENA_MAX', 'TEST_ALL'],
  ...mentionsOf(
    /\b(?:process\.env\.|createRandom\(')([A-Z_]+)/g,
    ['test', 'packages/embedded-mongo/test'].flatMap(filesUnder).filter((path) => path.endsWith('.ts')),
  ).map(({ found }) => found),
];

describe('the table of settings', () => {
  const rows = tableOf('docs/reference/settings.md', '| variable | default | meaning |').flatMap(
    ([names = '', fallback = '', meaning = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, fallback, meaning })),
  );

  it('lists exactly the variables of the schema, in its order', () => {
    expect(rows.map(({ name }) => name)).to.deep.equal(variableNames);
  });

  it('names the defaults', () => {
    const defaults = load() as unknown as Record<string, unknown>;
    const special: Record<string, string> = {
      CORS_ORIGINS: 'pages of this machine',
      LEGACY_ANONYMOUS: '`bound`; in production `off`',
      VERIFY_EVERY: '`off`; in production `1d`',
      TRUST_PROXY: '`off`',
      DEMO: '`on` with the embedded database',
    };
    for (const { name, fallback } of rows) {
      const value = defaults[name];
      const expected = special[name] ?? (value === undefined ? '' : `\`${value}\``);
      expect(fallback, name).to.equal(expected);
    }
    expect(load({ TRUST_PROXY: 'off' }).TRUST_PROXY).to.equal(load().TRUST_PROXY);
  });

  it('names the bounds of every number', () => {
    const numbers = rows.filter(
      ({ name }) => typeof (load() as unknown as Record<string, unknown>)[name] === 'number',
    );
    expect(numbers.length).to.be.greaterThan(6);
    for (const { name, meaning } of numbers) {
      const [, low, high] = /\b(\d+) to (\d+)\b/.exec(meaning) ?? [];
      const [least, most] = [Number(low), Number(high)];
      const takes = (value: number) => {
        try {
          load({ [name]: String(value) });
          return true;
        } catch (error) {
          expect(error).to.be.an.instanceOf(ConfigError);
          return false;
        }
      };
      const taken = [least - 1, least, most, most + 1].map(takes);
      expect(taken, `${name}: ${low} to ${high}`).to.deep.equal([false, true, true, false]);
    }
  });

  it('names the length of the shortest valid secrets', () => {
    for (const name of ['JWT_SECRET', 'METRICS_TOKEN']) {
      const { meaning = '' } = rows.find((row) => row.name === name) ?? {};
      const [, least] = /at least (\d+) (?:bytes|characters)/.exec(meaning) ?? [];
      expect(load({ [name]: 'x'.repeat(Number(least)) }), name).to.have.property(name);
      expect(() => load({ [name]: 'x'.repeat(Number(least) - 1) }), name).to.throw(ConfigError);
    }
  });

  it('names valid values', () => {
    for (const { name, meaning, fallback } of rows) {
      const value = /^`(\w+)`$/.exec(fallback)?.[1];
      if (value && value !== '.data') expect(() => load({ [name]: value }), name).to.not.throw();
      // The other values of a setting.
      for (const [, other = ''] of meaning.matchAll(/(?:^|\()`(on|off|open|sharded|debug)`/g))
        expect(() => load({ [name]: other }), `${name}=${other}`).to.not.throw();
    }
  });
});

describe('settings in other documents', () => {
  it('exist', () => {
    const names = mentionsOf(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)=[^`]*`/g);
    const assigned = mentionsOf(/^(?: {4})?([A-Z][A-Z0-9_]+)=\S+ npm /gm);
    expect(names.length).to.be.greaterThan(8);
    expect(
      wrong([...names, ...assigned], ({ found }) => variableNames.includes(found) || notOurs.includes(found)),
    ).to.deep.equal([]);
  });

  it('have valid values, where one is given', () => {
    const given = mentionsOf(/`([A-Z][A-Z0-9_]+=[\w*]+)`/g).filter(({ found }) =>
      variableNames.includes(found.split('=')[0] ?? ''),
    );
    expect(given.length).to.be.greaterThan(8);
    const isTaken = (text: string) => {
      const [name = '', value = ''] = text.split('=');
      const rest = { MONGODB_URI: 'mongodb://db/adoption', JWT_SECRET: 'x'.repeat(32), CORS_ORIGINS: '*' };
      load({ ...(name === 'NODE_ENV' ? rest : {}), [name]: value });
      return true;
    };
    expect(wrong(given, ({ found }) => isTaken(found))).to.deep.equal([]);
  });

  it('include the production guide’s, which exist', () => {
    const rows = tableOf('docs/operations.md', '| setting | value | why |').map(([name = '']) =>
      name.slice(1, -1),
    );
    expect(rows.filter((name) => !variableNames.includes(name))).to.deep.equal([]);
  });
});

/** Assignments in an env file, including commented ones. */
function assignments(path: string): Record<string, string> {
  const lines = textOf(path).matchAll(/^#? ?([A-Z][A-Z0-9_]+)=(.*)$/gm);
  return Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [name, value.replace(/^"(.*)"$/, '$1')]),
  );
}

describe('templates for operators', () => {
  it('.env.example has every variable, in the order of the table, with a valid value', () => {
    const given = assignments('.env.example');
    expect(Object.keys(given)).to.deep.equal(variableNames);
    const { NODE_ENV, ...rest } = given;
    for (const [name, value] of Object.entries(rest))
      expect(() => load({ [name]: value }), name).to.not.throw();
    // Only one of the three keys may be set.
    const { JWT_PUBLIC_KEY, JWKS_URL, ...production } = given;
    expect(load(production)).to.include({ NODE_ENV, production: true });
  });

  it('deploy/production.env.example is valid in production once a key is set', () => {
    const given = assignments('deploy/production.env.example');
    expect(Object.keys(given).filter((name) => !variableNames.includes(name))).to.deep.equal([]);
    expect(load({ ...given, JWT_SECRET: 'x'.repeat(32) })).to.include({ production: true });
    expect(() => load(given)).to.throw(ConfigError, 'JWT_SECRET: production needs a key');
  });

  it('name only variables that exist', () => {
    const inCompose = mentionsOf(/^ {4}([A-Z][A-Z0-9_]+):/gm, ['deploy/compose.yaml']);
    const inUnit = mentionsOf(/(?:^Environment=|production | )([A-Z_]+)=/gm, [
      'deploy/adoption-realtime.service',
      'deploy/adoption-http@.service',
      'deploy/adoption-gateway@.service',
    ]);
    const inImage = mentionsOf(/(?:ENV | )([A-Z][A-Z0-9_]+)=/g, ['deploy/Dockerfile']);
    const inPm2 = mentionsOf(/\bconfig\.([A-Z0-9_]+)/g, ['ecosystem.config.js']);
    for (const found of [inCompose, inUnit, inImage, inPm2]) expect(found).to.not.be.empty;
    const all = [...inCompose, ...inUnit, ...inImage, ...inPm2];
    expect(wrong(all, ({ found }) => variableNames.includes(found) || notOurs.includes(found))).to.deep.equal(
      [],
    );
  });

  it('are all found by these tests', () => {
    expect(operatorFiles).to.include.members([
      '.env.example',
      'deploy/compose.yaml',
      'deploy/nginx.conf.template',
    ]);
    expect(pages).to.include.members(['README.md', 'docs/operations.md', 'docs/decisions/README.md']);
  });
});
