import { expect } from 'chai';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { createRateLimits } from '../../domain/platform/rate-limits/index.js';
import { type Budget, budgets, limitsOf } from '../../domain/platform/rate-limits/rate-limits.js';
import { createMemoryRateLimits } from '../../domain/platform/rate-limits/rate-limits.memory.js';
import { createRedisRateLimits } from '../../domain/platform/rate-limits/rate-limits.redis.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { counted } from '../support/counted.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { rateLimitsContract, shortBudgets, takeMany } from './rate-limits.contract.js';

rateLimitsContract('memory', () => createMemoryRateLimits(shortBudgets));

/** Points per seconds of each budget. */
const documented: Record<Budget, [points: number, seconds: number]> = {
  read: [2_000, 10],
  list: [300, 10],
  search: [20, 10],
  write: [500, 10],
  address: [5_000, 10],
  bytes: [16_000_000, 10],
  message: [100, 5],
  socketEvent: [300, 10],
};

describe('enabled rate limits', () => {
  for (const [budget, [points, seconds]] of Object.entries(documented)) {
    it(`are ${points} in ${seconds} s for ${budget}`, async () => {
      const limits = createRateLimits(true);
      const atOnce = Math.ceil(points / 5_000);
      for (let i = 0; i < points; i += atOnce) await limits.take(budget as Budget, 'key', atOnce);
      const refused = await limits.take(budget as Budget, 'key').catch((error) => error);
      expect(refused).include({ code: 'RATE_LIMITED' });
      expect(refused.errors).deep.equal([
        `more than ${points} ${budget === 'bytes' ? 'bytes' : 'requests'} in ${seconds} s`,
      ]);
      expect(refused.retryAfterMs).within(1_000 * (seconds - 3), 1_000 * seconds);
    });
  }

  it('pass on a failure of the limiter, which refuses nobody', async () => {
    const failure = new Error('the limiter is broken');
    const limits = limitsOf(budgets, () => () => Promise.reject(failure));
    const before = await counted(metrics.limitHits, { limit: 'read' });
    expect(await limits.take('read', 'key').catch((error) => error)).equal(failure);
    expect(await counted(metrics.limitHits, { limit: 'read' })).equal(before);
  });

  it('return a time to wait even in the last moment of a window', async () => {
    const limits = limitsOf(budgets, () => () => Promise.reject(new RateLimiterRes(0, 0)));
    expect(await limits.take('read', 'key').catch((error) => error)).include({ retryAfterMs: 1 });
  });
});

describe('disabled rate limits', () => {
  it('refuse nothing', async () => {
    expect(await takeMany(createRateLimits(false), 10_000, 'key')).lengthOf(0);
  });
});

describeOnRedis('rate limits on Redis', (connection) => {
  rateLimitsContract('Redis', () => createRedisRateLimits(connection(), shortBudgets));
});

describe('rate limits of several processes', () => {
  const connections = openConnections();
  let server: TestRedis;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  afterEach(() => connections.close());

  /** Scripts that Redis has run since the last call. */
  async function scriptsRun(redis: RedisConnection): Promise<number> {
    const stats = await redis.commands.info('commandstats');
    await redis.commands.config('RESETSTAT');
    const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  it('share their counts', async () => {
    const [one, two] = [
      createRedisRateLimits(await connections.connect(server.url), shortBudgets),
      createRedisRateLimits(await connections.connect(server.url), shortBudgets),
    ];
    const here = await takeMany(one, 60, 'together');
    const there = await takeMany(two, 60, 'together');
    expect(here).lengthOf(0);
    expect(there).lengthOf(20);
  });

  it('call Redis once per share, and once for a refused key', async () => {
    const redis = await connections.connect(server.url);
    const limits = createRedisRateLimits(redis, shortBudgets);
    await takeMany(limits, 1, 'warm');
    await scriptsRun(redis);
    await takeMany(limits, 100, 'shares');
    expect(await scriptsRun(redis)).equal(50);
    expect(await takeMany(limits, 500, 'shares')).lengthOf(500);
    expect(await scriptsRun(redis)).equal(1);
  });

  it('count exactly if a budget does not divide into shares', async () => {
    const redis = await connections.connect(server.url);
    const odd = { ...shortBudgets, message: { points: 101, duration: 2 } };
    expect(await takeMany(createRedisRateLimits(redis, odd), 110, 'odd')).lengthOf(9);
  });

  it('go on in each process when Redis fails, before that is detected', async () => {
    const redis = await connections.connect(server.url);
    const failing = { commands: redis.commands, down: false } as RedisConnection;
    const limits = createRedisRateLimits(failing, shortBudgets);
    redis.commands.disconnect();
    const before = performance.now();
    expect(await takeMany(limits, 120, 'failing')).lengthOf(20);
    expect(performance.now() - before).below(1_000);
  });

  it('go on in each process while Redis is away', async () => {
    const redis = await connections.connect(server.url);
    const limits = createRedisRateLimits(redis, shortBudgets);
    await takeMany(limits, 10, 'away');
    const away = reaches(redis, 'down');
    await server.kill();
    await away;
    const before = performance.now();
    const refused = await takeMany(limits, 120, 'alone');
    expect(performance.now() - before).below(500);
    expect(refused).lengthOf(20);
    const back = reaches(redis, 'up');
    await server.restart();
    await back;
    expect(await takeMany(limits, 101, 'back')).lengthOf(1);
  });
});
