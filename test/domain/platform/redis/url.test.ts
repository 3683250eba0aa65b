import { expect } from 'chai';
import { parseRedisUrl } from '../../../../domain/platform/redis/url.js';
import { ConfigError, loadConfig } from '../../../../domain/platform/settings/config.js';

const good: [url: string, target: ReturnType<typeof parseRedisUrl>][] = [
  ['redis://localhost', { kind: 'single', addresses: [{ host: 'localhost', port: 6379 }], db: 0 }],
  ['redis://10.0.0.1:7000/2', { kind: 'single', addresses: [{ host: '10.0.0.1', port: 7000 }], db: 2 }],
  ['redis://[::1]:7000/', { kind: 'single', addresses: [{ host: '::1', port: 7000 }], db: 0 }],
  [
    'redis://app:p%40ss%3Aword@db:6379/0',
    {
      kind: 'single',
      addresses: [{ host: 'db', port: 6379 }],
      db: 0,
      username: 'app',
      password: 'p@ss:word',
    },
  ],
  ['redis://:pass@db', { kind: 'single', addresses: [{ host: 'db', port: 6379 }], db: 0, password: 'pass' }],
  ['rediss://db', { kind: 'single', addresses: [{ host: 'db', port: 6379 }], db: 0, tls: {} }],
  [
    'redis+sentinel://:pass@one:26379,two/main/3?sentinelPassword=s%26s',
    {
      kind: 'sentinel',
      addresses: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 26_379 },
      ],
      db: 3,
      password: 'pass',
      master: 'main',
      sentinelPassword: 's&s',
    },
  ],
  [
    'rediss+cluster://user:pass@one:7001,two:7002',
    {
      kind: 'cluster',
      addresses: [
        { host: 'one', port: 7001 },
        { host: 'two', port: 7002 },
      ],
      db: 0,
      username: 'user',
      password: 'pass',
      tls: {},
    },
  ],
];

const bad: [url: string, fault: RegExp][] = [
  ['localhost:6379', /must look like redis:/],
  ['http://localhost', /must look like redis:/],
  ['redis+other://localhost', /must look like redis:/],
  ['redis://', /must look like redis:/],
  ['redis://host:0', /host:port/],
  ['redis://host:65536', /host:port/],
  ['redis://host:port', /host:port/],
  ['redis://one:1,two:2', /several servers/],
  ['redis://host/one', /database must be a number/],
  ['redis://host/1/2', /too many parts/],
  ['redis://:%zz@host', /percent-encoded/],
  ['redis+sentinel://host:26379', /name of the master/],
  ['redis+cluster://host:7000/1', /no databases/],
];

describe('REDIS_URL', () => {
  for (const [url, target] of good) {
    it(`reads ${url}`, () => {
      expect(parseRedisUrl(url)).deep.equal(target);
    });
  }

  for (const [url, fault] of bad) {
    it(`refuses ${url} with one line`, () => {
      try {
        loadConfig({ NODE_ENV: 'test', REDIS_URL: url }, '/nowhere');
        expect.fail('it was taken');
      } catch (error) {
        const { faults } = error as ConfigError;
        expect(error).instanceOf(ConfigError);
        expect(faults).lengthOf(1);
        expect(faults[0]).match(/^REDIS_URL: /);
        expect(faults[0]).match(fault);
      }
    });
  }

  it('never repeats the password', () => {
    expect(() => parseRedisUrl('redis://:hunter2@host:99999')).throws(/^(?!.*hunter2)/s);
  });
});
