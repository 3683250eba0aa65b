import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { pino } from 'pino';
import { redisKeys } from '../../../../domain/kernel/redis-keys.js';
import { createLogger } from '../../../../domain/platform/logger.js';
import { connectRedis, type RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { RedisEcho } from '../../../../domain/platform/redis/echo.js';
import { type Line, startLine } from '../../../e2e/cluster/line.js';
import { fakeTime } from '../../../support/fake-time.js';
import { later } from '../../../support/later.js';
import {
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../../../support/redis.js';

const silent = createLogger('silent', 'test');

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

/** An answer of Redis that refuses a command. */
const refusal = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('the health of the connection to Redis', () => {
  const connections = openConnections();
  let server: TestRedis;
  let line: Line | undefined;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  afterEach(async () => {
    await connections.close();
    await line?.close();
    line = undefined;
  });
  after(() => server?.stop());

  it('is `away` after errors that say Redis cannot work, until the next check', async () => {
    const redis = await connections.connect(server.url);
    for (const message of [
      "READONLY You can't write against a read only replica.",
      'LOADING Redis is loading the dataset in memory',
      'MASTERDOWN Link with MASTER is down',
      'CLUSTERDOWN The cluster is down',
      'TRYAGAIN Multiple keys request during rehashing of slot',
      'NOREPLICAS Not enough good replicas to write.',
      'MISCONF Redis is configured to save RDB snapshots',
      "OOM command not allowed when used memory > 'maxmemory'.",
      'BUSY Redis is busy running a script.',
      'NOAUTH Authentication required.',
      'WRONGPASS invalid username-password pair',
    ]) {
      const away = reaches(redis, 'away');
      expect(await redis.ask(() => Promise.reject(refusal(message))), message).equal(undefined);
      expect(redis.away, message).equal(true);
      await away;
      await redis.ping();
      expect(redis.away).equal(false);
    }
  });

  it('is unaffected by refused commands', async () => {
    const redis = await connections.connect(server.url);
    for (const message of ["ERR unknown command 'foo'", 'WRONGTYPE Operation', 'NOSCRIPT', 'READ']) {
      expect(await redis.ask(() => Promise.reject(refusal(message)))).equal(undefined);
      expect(redis.away, message).equal(false);
    }
  });

  it('logs refused commands once in five seconds', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const redis = connectRedis(server.url, logger);
    try {
      expect(await redis.connected(5_000)).equal(true);
      const refused = () => redis.ask(() => Promise.reject(refusal('ERR wrong number of arguments')));
      for (const [ms, count] of [
        [0, 1],
        [0, 1],
        [3_000, 1],
        // Later than that by the first that was told, not by the last that was not.
        [6_000, 2],
        [9_000, 2],
      ] as const) {
        await later(ms, refused);
        expect(lines, `after ${ms} ms`).length(count);
      }
    } finally {
      await redis.close();
    }
    expect(JSON.parse(lines[0] as string)).include({
      ...{ reason: 'ERR wrong number of arguments', msg: 'Redis refused a command' },
    });
  });

  it('is `back` as soon as the connections are, not only at the next check', async () => {
    const { setInterval } = globalThis;
    const intervals: unknown[] = [];
    globalThis.setInterval = ((_look: unknown, ms: unknown) => {
      intervals.push(ms);
      return { unref() {} };
    }) as never;
    const redis = connectRedis(server.url, silent);
    globalThis.setInterval = setInterval;
    expect(await redis.connected(5_000)).equal(true);
    expect(intervals, 'a look every two seconds').deep.equal([2_000]);
    await redis.close();
  });

  it('ignores a check during which a connection was lost', async () => {
    line = await startLine(server.port);
    const redis = await connections.connect(`redis://127.0.0.1:${line.port}`);
    // The subscriber's part of the look; what is written and read goes on.
    const asked = new Promise<void>((resolve) => {
      line?.holdAfter((bytes) => {
        const isPing = bytes.includes('ping');
        if (isPing) resolve();
        return isPing;
      });
    });
    const look = redis.ping().catch((error) => error);
    await asked;
    await redis.commands.get('key');
    const away = reaches(redis, 'away');
    redis.commands.disconnect();
    await away;
    line.release();
    expect(await look).include({ code: 'SERVICE_UNAVAILABLE' });
    expect(redis.away).equal(true);
  });

  it('fails commands between two connections, without sending them later', async () => {
    const redis = await connections.connect(server.url);
    const outcomes: Promise<unknown>[] = [];
    redis.commands.once('close', () => {
      outcomes.push(redis.commands.incr('between').catch(() => 'failed'));
    });
    const away = reaches(redis, 'away');
    redis.commands.disconnect(true);
    await away;
    await reaches(redis, 'back');
    expect(await Promise.all(outcomes)).deep.equal(['failed']);
    expect(await redis.commands.exists('between')).equal(0);
  });

  it('writes a key that expires', async () => {
    const redis = await connections.connect(server.url);
    expect(await redis.commands.pttl(redisKeys.alive(redis.processId))).within(1_000, 10_000);
  });

  it('is not reported to removed listeners', async () => {
    const redis = await connections.connect(server.url);
    let told = 0;
    const off = redis.on('away', () => {
      told += 1;
    });
    off();
    await redis.ask(() => Promise.reject(new Error('lost')));
    expect([redis.away, told]).deep.equal([true, 0]);
  });
});

describe('the echo through Redis', () => {
  it('needs no ordered connection in a cluster, and leaves no timer', async () => {
    const time = fakeTime();
    try {
      const subscriber = Object.assign(new EventEmitter(), {
        status: 'ready',
        subscribe: async () => 1,
        // Asks any node of a cluster, which need not be the one subscribed at.
        ping: () => Promise.reject(new Error('lost')),
      });
      const publish = async (channel: string, message: string) =>
        subscriber.emit('messageBuffer', Buffer.from(channel), Buffer.from(message));
      const clients = [{ publish }, subscriber] as unknown as [Cluster, Cluster];
      const heard = new RedisEcho(...clients, 'echo', { ordered: false, timeoutMs: 1_000 }).send();
      await time.pass(0);
      expect(time.pending).equal(0);
      expect(await heard).equal(true);
    } finally {
      time.restore();
    }
  });

  it('logs why a connection failed, and only logs it', async () => {
    const lines: string[] = [];
    const redis = connectRedis(
      `redis://${NOWHERE}`,
      pino({ level: 'debug' }, { write: (line) => lines.push(line) }),
    );
    const { error } = console;
    const printed: unknown[] = [];
    console.error = (...args) => printed.push(args);
    try {
      await new Promise<void>((resolve) => redis.commands.once('close', resolve));
    } finally {
      console.error = error;
      await redis.close();
    }
    expect(lines.join('')).match(/"reason":"connect ECONNREFUSED .*"msg":"a Redis connection failed"/);
    expect(printed).deep.equal([]);
  });
});

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

  /** Pauses double from 50 ms to 2 s, less up to a half of it, each time another part. */
  function expectPauses(pause: unknown): void {
    const pauses = (attempt: number) =>
      Array.from({ length: 50 }, () => (pause as (attempt: number) => number)(attempt));
    for (const [attempt, longest] of [
      [1, 100],
      [3, 400],
      [6, 2_000],
      [1_000, 2_000],
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
        ...{ db: 3, name: 'main', sentinels: [{ host: '127.0.0.1', port: 1 }], sentinelPassword: 'other' },
        ...{ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true },
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
        ...{ slotsRefreshTimeout: 2_000, slotsRefreshInterval: 10_000 },
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
