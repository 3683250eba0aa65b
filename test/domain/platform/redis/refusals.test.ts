import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { metrics } from '../../../../domain/platform/observe/metrics.js';
import type { RedisClient } from '../../../../domain/platform/redis/clients.js';
import { connectRedis } from '../../../../domain/platform/redis/connection.js';
import { eventually } from '../../../support/eventually.js';
import { hasRedisServer, SIGNING_KEY, startRedis, type TestRedis } from '../../../support/redis.js';
import { later } from '../../../support/time.js';

/** Makes Redis refuse writes as it could not save its data. */
async function failToSave(commands: RedisClient): Promise<void> {
  const [, folder] = (await commands.config('GET', 'dir')) as [string, string];
  // Where its file is to be.
  const place = join(folder, 'dump.rdb');
  mkdirSync(place);
  await commands.config('SET', 'stop-writes-on-bgsave-error', 'yes');
  await commands.config('SET', 'save', '3600 1000000');
  await commands.bgsave();
  await eventually(async () =>
    expect(await commands.info('persistence')).match(/rdb_last_bgsave_status:err/),
  );
  rmdirSync(place);
}

describe('the connection to a Redis that refuses to store', () => {
  let server: TestRedis;
  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());

  const withoutMemory = (commands: RedisClient) => commands.config('SET', 'maxmemory', '1');
  const withMemory = (commands: RedisClient) => commands.config('SET', 'maxmemory', '0');
  const refusals: [
    refusal: string,
    refuse: (commands: RedisClient) => Promise<unknown>,
    accept: (commands: RedisClient) => Promise<unknown>,
  ][] = [
    ['OOM', withoutMemory, withMemory],
    [
      'NOREPLICAS',
      (commands) => commands.config('SET', 'min-replicas-to-write', '1'),
      (commands) => commands.config('SET', 'min-replicas-to-write', '0'),
    ],
    ['MISCONF', failToSave, (commands) => commands.config('SET', 'stop-writes-on-bgsave-error', 'no')],
  ];
  for (const [refusal, refuse, accept] of refusals) {
    it(`stays up while Redis refuses to store (${refusal}), and says so once, as when it stores again`, async () => {
      const lines: string[] = [];
      const logger = pino({ level: 'info' }, { write: (line) => lines.push(line) });
      const redis = connectRedis(server.url, logger, SIGNING_KEY);
      const told: string[] = [];
      for (const event of ['down', 'up', 'stores'] as const) redis.on(event, () => told.push(event));
      const { commands } = redis;
      const storing = async () => (await metrics.redisStoring.get()).values[0]?.value;
      try {
        expect(await redis.connected(5_000)).equal(true);
        await refuse(commands);
        for (let i = 0; i < 3; i += 1)
          expect(await redis.ask(() => commands.set('one', 'more'))).equal(undefined);
        await redis.ping();
        expect([redis.down, redis.refusal, await storing()]).deep.equal([false, refusal, 0]);
        expect(await redis.ask(() => commands.get('one'))).not.equal(undefined);
        await accept(commands);
        await redis.ping();
        expect(redis.refusal, 'at its limit it refuses now and then').equal(refusal);
        await later(5_000, () => redis.ping());
        expect([redis.refusal, await storing()]).deep.equal([undefined, 1]);
      } finally {
        await accept(commands);
        await redis.close();
      }
      expect(told).deep.equal(['up', 'stores']);
      const said = lines
        .map((line) => JSON.parse(line))
        .map(({ level, msg, reason }) => [level, msg, reason?.split(' ')[0]]);
      expect(said).deep.equal([
        [30, 'Redis is up', undefined],
        [40, 'Redis stores nothing: each process counts alone', refusal],
        [30, 'Redis stores again', undefined],
      ]);
    });
  }
});
