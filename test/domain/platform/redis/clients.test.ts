import { expect } from 'chai';
import type { Redis, RedisOptions } from 'ioredis';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { connectRedis, type RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { later } from '../../../support/time.js';

const silent = createLogger('silent', 'test');

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

const refusal = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('the options of connections to Redis', () => {
  const common = {
    connectTimeout: 3_000,
    keepAlive: 10_000,
    username: 'app',
    password: 'word',
  };
  const fast = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false };
  const patient = { maxRetriesPerRequest: null, autoResendUnfulfilledCommands: true };
  const limits = {
    commands: { ...common, ...fast, socketTimeout: 3_000, commandTimeout: 1_000 },
    publisher: { ...common, ...fast, socketTimeout: 2_000 },
    subscriber: { ...common, ...patient, socketTimeout: 5_000 },
  };
  let redis: RedisConnection;
  afterEach(() => redis.close());

  /** The options of its clients, by purpose. */
  const optionsOf = (connection: RedisConnection) =>
    Object.entries({
      commands: connection.commands,
      publisher: connection.publisher(),
      subscriber: connection.subscriber(),
    }).map(([purpose, { options }]) => [purpose, options] as [keyof typeof limits, Record<string, unknown>]);

  /** Pauses double from 50 ms to 1 s, less up to a half of it, each time another part. */
  function expectPauses(pause: unknown): void {
    const pauses = (attempt: number) =>
      Array.from({ length: 50 }, () => (pause as (attempt: number) => number)(attempt));
    for (const [attempt, longest] of [
      [1, 100],
      [3, 400],
      [6, 1_000],
      [1_000, 1_000],
    ] as const) {
      const all = pauses(attempt);
      expect(Math.min(...all), `attempt ${attempt}`).within(longest / 2, longest * 0.7);
      expect(Math.max(...all), `attempt ${attempt}`).within(longest * 0.8, longest);
    }
  }

  it('depend on the purpose, for one server', async () => {
    redis = connectRedis(`redis://app:word@${NOWHERE}/3`, silent);
    for (const [purpose, options] of optionsOf(redis)) {
      expect(options, purpose).include({ ...limits[purpose], db: 3, connectionName: `adoption-${purpose}` });
      expect(options.commandTimeout, purpose).equal((limits[purpose] as RedisOptions).commandTimeout);
      expect(options.enableOfflineQueue, purpose).equal(purpose !== 'publisher');
      expectPauses(options.retryStrategy);
    }
  });

  it('are the same behind Sentinel', async () => {
    redis = connectRedis(`rediss+sentinel://app:word@${NOWHERE}/main/3?sentinelPassword=other`, silent);
    for (const [purpose, options] of optionsOf(redis)) {
      expect(options, purpose).deep.include({
        ...limits[purpose],
        db: 3,
        name: 'main',
        sentinels: [{ host: '127.0.0.1', port: 1 }],
        sentinelPassword: 'other',
        tls: {},
        sentinelTLS: {},
        enableTLSForSentinelMode: true,
      });
      expectPauses(options.retryStrategy);
      expectPauses(options.sentinelRetryStrategy);
    }
  });

  it('are the same in a cluster, whose slots are refreshed every ten seconds', async () => {
    redis = connectRedis(`rediss+cluster://app:word@${NOWHERE}`, silent);
    for (const [purpose, options] of optionsOf(redis)) {
      expect(options.redisOptions, purpose).deep.include({ ...limits[purpose], tls: {} });
      expect(options, purpose).include({
        slotsRefreshTimeout: 2_000,
        slotsRefreshInterval: 10_000,
        shardedSubscribers: purpose === 'subscriber',
      });
      expectPauses(options.clusterRetryStrategy);
      const looked: unknown[] = [];
      const lookUp = options.dnsLookup as (host: string, done: (...args: unknown[]) => void) => void;
      lookUp('redis.example.org', (...args) => looked.push(args));
      expect(looked, 'the name that a certificate is checked against').deep.equal([
        [null, 'redis.example.org'],
      ]);
    }
  });

  it('reconnect from a read-only server at most once a second', async () => {
    redis = connectRedis(`redis://${NOWHERE}`, silent);
    const leaves = (redis.commands as Redis).options.reconnectOnError as (error: Error) => boolean;
    expect(leaves(refusal('ERR readonly'))).equal(false);
    expect(leaves(refusal('READONLY'))).equal(true);
    expect(leaves(refusal('READONLY'))).equal(false);
    expect(await later(900, async () => leaves(refusal('READONLY')))).equal(false);
    expect(await later(1_100, async () => leaves(refusal('READONLY')))).equal(true);
  });
});
