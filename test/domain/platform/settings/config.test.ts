import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { variableNames } from '../../../../domain/platform/settings/config.js';
import { SHORTEST_SECRET, useConfigurations } from './configurations.js';

describe('configuration', () => {
  const { folder, load, faults } = useConfigurations();

  it('has the documented defaults', () => {
    expect(load()).to.deep.equal({
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      HTTP_PORT: 8080,
      GATEWAY_PORT: 8081,
      DATA_DIR: '.data',
      REDIS_ADAPTER: 'classic',
      REDIS_REQUIRED: 'off',
      GATEWAY_ENGINE: 'auto',
      GATEWAY_STICKY: 'off',
      HTTP_INSTANCES: 2,
      GATEWAY_INSTANCES: 3,
      TRUST_PROXY: 0,
      TIME_ZONE: 'UTC',
      LEGACY_ANONYMOUS: 'bound',
      LEGACY_ANONYMOUS_OPEN_CONFIRMED: 'off',
      RATE_LIMIT: 'on',
      LOAD_SHEDDING: 'on',
      QUEUE_MS: 10,
      SOCKET_FRAMES: 2_000,
      SOCKET_BYTES: 8_388_608,
      SOCKET_HANDSHAKES: 1_000,
      SOCKET_UNADMITTED: 500,
      SOCKET_CONNECTIONS: 10_000,
      HTTP_CONNECTIONS: 10_000,
      ROOMS_PER_DAY: 200,
      MESSAGES_PER_DAY: 5_000,
      ARTICLES_PER_DAY: 100,
      COMMENTS_PER_DAY: 1_000,
      ARTICLE_COMMENTS: 1_000,
      SEARCHES_AT_ONCE: 2,
      HTTP_HELD_MIB: 64,
      KEEP_ALIVE_MS: 65_000,
      DEMO: true,
      LOG_LEVEL: 'info',
      ...{ LOG_REQUESTS: 'off', VERIFY_EVERY: 'off' },
      MESSAGE_STAGES: 'off',
      OTEL_TRACES_SAMPLER_ARG: 1,
      DRAIN_WINDOW_MS: 2_000,
      SHUTDOWN_TIMEOUT_MS: 10_000,
      production: false,
    });
  });

  it('turns load shedding off with all limits, unless set', () => {
    expect(load({ RATE_LIMIT: 'off' })).to.include({ LOAD_SHEDDING: 'off' });
    expect(load({ RATE_LIMIT: 'off', LOAD_SHEDDING: 'on' })).to.include({ LOAD_SHEDDING: 'on' });
    expect(load({ LOAD_SHEDDING: 'off' })).to.include({ RATE_LIMIT: 'on', LOAD_SHEDDING: 'off' });
  });

  it('turns the demo on with the embedded database, unless set', () => {
    const MONGODB_URI = 'mongodb://db:27017/adoption';
    expect(load({ MONGODB_URI })).to.include({ DEMO: false });
    expect(load({ MONGODB_URI, DEMO: 'on' })).to.include({ DEMO: true });
    expect(load({ DEMO: 'off' })).to.include({ DEMO: false });
  });

  const good: Record<string, Record<string, unknown>> = {
    NODE_ENV: { development: 'development', test: 'test' },
    HTTP_PORT: { 0: 0, 65535: 65_535 },
    GATEWAY_PORT: { 0: 0, 65535: 65_535 },
    METRICS_PORT: { 0: 0, 65535: 65_535 },
    MONGODB_URI: { 'mongodb+srv://db.example.org/a': 'mongodb+srv://db.example.org/a' },
    REDIS_ADAPTER: { classic: 'classic', sharded: 'sharded' },
    REDIS_REQUIRED: { on: 'on', off: 'off' },
    REDIS_SIGNING_KEY: { [SHORTEST_SECRET]: SHORTEST_SECRET },
    GATEWAY_ENGINE: { auto: 'auto', uws: 'uws', ws: 'ws' },
    GATEWAY_STICKY: { on: 'on', off: 'off' },
    HTTP_INSTANCES: { 1: 1, 999: 999 },
    GATEWAY_INSTANCES: { 1: 1, 999: 999 },
    JWT_SECRET: { [SHORTEST_SECRET]: SHORTEST_SECRET },
    JWKS_URL: { 'http://id.example.org/keys': 'http://id.example.org/keys' },
    TRUST_PROXY: { off: 0, on: 1, 0: 0, 2: 2, 10: 10 },
    TIME_ZONE: { 'Asia/Seoul': 'Asia/Seoul' },
    LEGACY_ANONYMOUS: { bound: 'bound', open: 'open', off: 'off' },
    LOAD_SHEDDING: { on: 'on', off: 'off' },
    MESSAGE_STAGES: { on: 'on', off: 'off' },
    QUEUE_MS: { 5: 5, 10000: 10_000 },
    SOCKET_CONNECTIONS: { 10: 10, 1000000: 1_000_000 },
    HTTP_CONNECTIONS: { 10: 10, 1000000: 1_000_000 },
    ROOMS_PER_DAY: { 1: 1, 1000000: 1_000_000 },
    MESSAGES_PER_DAY: { 1: 1, 1000000: 1_000_000 },
    ARTICLES_PER_DAY: { 1: 1, 1000000: 1_000_000 },
    COMMENTS_PER_DAY: { 1: 1, 1000000: 1_000_000 },
    ARTICLE_COMMENTS: { 1: 1, 100000: 100_000 },
    SEARCHES_AT_ONCE: { 1: 1, 100: 100 },
    KEEP_ALIVE_MS: { 6000: 6_000, 3600000: 3_600_000 },
    HTTP_HELD_MIB: { 1: 1, 65536: 65_536 },
    OTEL_EXPORTER_OTLP_ENDPOINT: { 'http://127.0.0.1:4318': 'http://127.0.0.1:4318' },
    OTEL_TRACES_SAMPLER_ARG: { 0: 0, 0.01: 0.01, 1: 1 },
    LOG_LEVEL: Object.fromEntries(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => [level, level]),
    ),
    LOG_REQUESTS: { off: 'off', errors: 'errors', all: 'all', '0.01': 0.01, '.5': 0.5, 1: 1 },
    VERIFY_EVERY: { off: 'off', '90s': 90_000, '30m': 1_800_000, '12h': 43_200_000 },
    METRICS_TOKEN: { '8 bytes.': '8 bytes.' },
    SOCKET_FRAMES: { 100: 100, 1000000: 1_000_000 },
    SOCKET_BYTES: { 131072: 131_072, 1000000000: 1_000_000_000 },
    SOCKET_HANDSHAKES: { 10: 10, 1000000: 1_000_000 },
    SOCKET_UNADMITTED: { 10: 10, 1000000: 1_000_000 },
    DRAIN_WINDOW_MS: { 0: 0, 300000: 300_000 },
    SHUTDOWN_TIMEOUT_MS: { 100: 100, 600000: 600_000 },
  };
  for (const [name, values] of Object.entries(good)) {
    it(`takes ${name} as far as its limits`, () => {
      for (const [given, value] of Object.entries(values)) {
        expect(load({ [name]: given }), given).to.have.property(name, value);
      }
    });
  }

  const bad: Record<string, string[]> = {
    NODE_ENV: ['staging'],
    HTTP_PORT: ['http', '65536', '-1', '80.5', '0x50', '1e3', ' ', '8080 '],
    GATEWAY_PORT: ['http', '65536', ' '],
    METRICS_PORT: ['65536', '-1'],
    MONGODB_URI: ['localhost:27017', 'http://localhost', 'mongodb://'],
    JWT_SECRET: ['short', 'x'.repeat(31)],
    JWT_PUBLIC_KEY: ['not a key'],
    JWKS_URL: ['not a url', 'ftp://id.example.org/jwks.json', 'file:///etc/passwd'],
    CORS_ORIGINS: [
      'app.example.org',
      'localhost:3000',
      'null',
      'ftp://x.org',
      ',',
      'https://a.org, nonsense',
    ],
    TRUST_PROXY: ['yes', '-1', '1.5', '11', 'constructor', '__proto__'],
    TIME_ZONE: ['Seoul', 'Asia/Soul'],
    LEGACY_ANONYMOUS: ['on', 'OPEN'],
    LEGACY_ANONYMOUS_OPEN_CONFIRMED: ['yes'],
    RATE_LIMIT: ['true'],
    LOAD_SHEDDING: ['0'],
    QUEUE_MS: ['4', 'off', '10001', '30.5'],
    SOCKET_FRAMES: ['many', '99', '1000001', '100.5'],
    SOCKET_BYTES: ['2 MiB', '131071', '1000000001'],
    SOCKET_HANDSHAKES: ['off', '9', '1000001'],
    SOCKET_UNADMITTED: ['off', '9', '1000001'],
    SOCKET_CONNECTIONS: ['off', '9', '1000001'],
    HTTP_CONNECTIONS: ['off', '9', '1000001'],
    ROOMS_PER_DAY: ['0', '-1', '1000001'],
    MESSAGES_PER_DAY: ['0', 'all', '1000001', '1.5'],
    ARTICLES_PER_DAY: ['0', '-1', '1000001'],
    COMMENTS_PER_DAY: ['0', '-1', '1000001'],
    ARTICLE_COMMENTS: ['0', 'many', '1.5', '100001'],
    SEARCHES_AT_ONCE: ['0', '1.5', '101'],
    KEEP_ALIVE_MS: ['5999', '6000.5', '3600001'],
    HTTP_HELD_MIB: ['0', '-1', '1.5', '65537'],
    DEMO: ['1'],
    LOG_LEVEL: ['verbose'],
    LOG_REQUESTS: ['on', '2', '-0.1', '0.1e1', '1.5', '%'],
    VERIFY_EVERY: ['on', '0s', '12', '1.5h', '100000s', '1w', '-1h'],
    METRICS_TOKEN: ['7 bytes'],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['127.0.0.1:4318', 'grpc://127.0.0.1:4317'],
    OTEL_TRACES_SAMPLER_ARG: ['all', '-1', '1.1', '.5'],
    REDIS_URL: ['localhost:6379', 'http://localhost'],
    REDIS_ADAPTER: ['streams'],
    REDIS_REQUIRED: ['yes'],
    MESSAGE_STAGES: ['all'],
    REDIS_SIGNING_KEY: ['short', 'x'.repeat(31)],
    GATEWAY_ENGINE: ['on', 'Ws'],
    GATEWAY_STICKY: ['yes'],
    HTTP_INSTANCES: ['0', 'max', '-1', '1000', '01'],
    GATEWAY_INSTANCES: ['0', '1.5', '1000'],
    DRAIN_WINDOW_MS: ['soon', '-1', '0.5', '300001'],
    SHUTDOWN_TIMEOUT_MS: ['soon', '99', '-5', '600001', '100.5'],
  };
  for (const [name, values] of Object.entries(bad)) {
    it(`49: refuses a bad ${name} with one line that names it`, () => {
      for (const value of values) {
        const lines = faults({ [name]: value });
        expect(lines, value).to.have.length(1);
        expect(lines[0], value).to.match(new RegExp(`^${name}: [^\\n]+$`));
        // The words of the library that checks the values.
        expect(lines[0], value).not.to.match(/Invalid|expected|Too /);
      }
    });
  }

  it('has no variable that these tests omit', () => {
    const tested = [...Object.keys(bad), 'HOST', 'DATA_DIR', 'JWT_ISSUER', 'JWT_AUDIENCE'];
    expect(variableNames.filter((name) => !tested.includes(name))).to.deep.equal([]);
  });

  it('49: reports all faults at once', () => {
    const lines = faults({ HTTP_PORT: 'x', TIME_ZONE: 'y', LOG_LEVEL: 'z' });
    expect(lines.map((line) => line.split(':')[0])).to.have.members(['HTTP_PORT', 'TIME_ZONE', 'LOG_LEVEL']);
    writeFileSync(join(folder(), '.env'), 'HTTP_PROT=9000\nHTTP_PORT=y\n');
    expect(faults({}).map((line) => line.split(':')[0])).to.deep.equal(['HTTP_PROT', 'HTTP_PORT']);
  });

  it('treats an empty value as unset', () => {
    expect(load({ JWT_SECRET: '', HTTP_PORT: '', CORS_ORIGINS: '' })).to.include({ HTTP_PORT: 8080 });
    // As a reload that was taken back leaves those that it had added.
    writeFileSync(join(folder(), '.env'), 'HTTP_PORT=9000\nTIME_ZONE=\n');
    expect(load({ HTTP_PORT: '', TIME_ZONE: '' })).to.include({ HTTP_PORT: 9000, TIME_ZONE: 'UTC' });
  });

  it('49: reads .env after the environment, and refuses unknown names in it', () => {
    writeFileSync(join(folder(), '.env'), 'HTTP_PORT=9000\nTIME_ZONE="UTC" # comment\n');
    expect(load({ HTTP_PORT: '9001' })).to.include({ HTTP_PORT: 9001, TIME_ZONE: 'UTC' });
    writeFileSync(join(folder(), '.env'), 'HTTP_PROT=9000\n');
    expect(faults({ PATH: '/bin', UNRELATED: '1' })).to.deep.equal([
      'HTTP_PROT: .env names a variable that does not exist; did you mean HTTP_PORT?',
    ]);
    writeFileSync(join(folder(), '.env'), 'SOMETHING_ELSE=1\n');
    expect(faults({})).to.deep.equal(['SOMETHING_ELSE: .env names a variable that does not exist']);
  });

  it('accepts only one key', () => {
    const secret = { JWT_SECRET: 'x'.repeat(32) };
    const jwks = { JWKS_URL: 'https://id.example.org/jwks.json' };
    const pem = { JWT_PUBLIC_KEY: '-----BEGIN PUBLIC KEY-----' };
    for (const keys of [
      { ...secret, ...jwks },
      { ...secret, ...pem },
      { ...jwks, ...pem },
      { ...secret, ...jwks, ...pem },
    ]) {
      expect(faults(keys)).to.deep.equal([
        'JWT_SECRET: set only one of JWT_SECRET, JWT_PUBLIC_KEY and JWKS_URL',
      ]);
    }
  });

  it('counts the bytes of a secret, not its characters', () => {
    expect(load({ JWT_SECRET: '한'.repeat(11) })).to.have.property('JWT_SECRET');
  });

  it('normalises origins', () => {
    const { CORS_ORIGINS } = load({ CORS_ORIGINS: ' https://App.example.org/ ,http://localhost:80' });
    expect(CORS_ORIGINS).to.deep.equal(['https://app.example.org', 'http://localhost']);
    expect(load({ CORS_ORIGINS: '*' }).CORS_ORIGINS).to.deep.equal(['*']);
  });
});
