import { expect } from 'chai';
import { createQuotas, type Quotas } from '../../domain/platform/rate-limits/index.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { gate, nextTurn } from '../support/eventually.js';
import { describeOnRedis, hasRedisServer, openConnections, reaches, startRedis } from '../support/redis.js';
import { later } from '../support/time.js';

const DAY_MS = 24 * 3_600_000;

const quotasOn = (redis?: RedisConnection, RATE_LIMIT: 'on' | 'off' = 'on') =>
  createQuotas(
    { RATE_LIMIT, ROOMS_PER_DAY: 3, MESSAGES_PER_DAY: 100, ARTICLES_PER_DAY: 3, COMMENTS_PER_DAY: 3 },
    redis,
  );

let lastMember = Math.floor(Math.random() * 1e9);
function newMember(): number {
  lastMember += 1;
  return lastMember;
}

/** The refusal of one more record. */
async function refusalOf(quotas: Quotas, memberNo: number) {
  const outcome = await quotas.take('articles', memberNo).catch((error) => error);
  expect(outcome).include({ code: 'QUOTA_EXCEEDED', status: 429 });
  expect(outcome.errors).deep.equal(['more than 3 articles in 24 h']);
  return outcome as { retryAfterMs: number };
}

async function fill(quotas: Quotas, memberNo: number): Promise<() => void> {
  await quotas.take('articles', memberNo);
  await quotas.take('articles', memberNo);
  return quotas.take('articles', memberNo);
}

/** The guarantees of every implementation of the quotas port. */
function quotasContract(name: string, open: () => Quotas): void {
  describe(`quotas: ${name}`, () => {
    let quotas: Quotas;
    let memberNo: number;
    beforeEach(() => {
      quotas = open();
      memberNo = newMember();
    });

    it('refuse what exceeds them, with the time to wait, per kind and member', async () => {
      await fill(quotas, memberNo);
      expect((await refusalOf(quotas, memberNo)).retryAfterMs).within(DAY_MS - 60_000, DAY_MS);
      await quotas.take('comments', memberNo);
      await quotas.take('rooms', memberNo);
      await quotas.take('articles', newMember());
    });

    it('do not count what is given back, or refused', async () => {
      const giveBack = await fill(quotas, memberNo);
      for (let i = 0; i < 3; i += 1) await refusalOf(quotas, memberNo);
      giveBack();
      await quotas.take('articles', memberNo);
      await refusalOf(quotas, memberNo);
    });

    it('hold for records at once', async () => {
      const all = await Promise.allSettled(
        Array.from({ length: 110 }, () => quotas.take('messages', memberNo)),
      );
      expect(all.filter(({ status }) => status === 'fulfilled')).lengthOf(100);
    });
  });
}

quotasContract('memory', () => quotasOn());

describe('quotas in memory', () => {
  it('begin anew after a day from the first record', async () => {
    const quotas = quotasOn();
    const giveBack = await fill(quotas, 1);
    await later(DAY_MS - 1_000, () => refusalOf(quotas, 1));
    await later(DAY_MS, async () => {
      // Of the window before: it changes nothing in this one.
      giveBack();
      await fill(quotas, 1);
      await refusalOf(quotas, 1);
    });
  });

  it('count 100,000 members of a kind, with one timer for all', async () => {
    const { setTimeout, setInterval } = globalThis;
    let timers = 0;
    const counting = <T extends typeof setTimeout | typeof setInterval>(start: T): T =>
      new Proxy(start, {
        apply(target, self, args) {
          if (args[1] > 1_000) timers += 1;
          return Reflect.apply(target, self, args);
        },
      });
    Object.assign(globalThis, { setTimeout: counting(setTimeout), setInterval: counting(setInterval) });
    try {
      const quotas = quotasOn();
      await fill(quotas, 1);
      for (let no = 2; no <= 100_000; no += 1) await quotas.take('articles', no);
      await refusalOf(quotas, 1);
      for (let no = 100_001; no <= 200_000; no += 1) await quotas.take('articles', no);
      await quotas.take('articles', 1);
    } finally {
      Object.assign(globalThis, { setTimeout, setInterval });
    }
    expect(timers).equal(1);
  });
});

describe('lifted quotas', () => {
  it('refuse nothing', async () => {
    const quotas = quotasOn(undefined, 'off');
    for (let i = 0; i < 10; i += 1) (await quotas.take('articles', 1))();
  });
});

describeOnRedis('quotas on Redis', (connection) => {
  quotasContract('Redis', () => quotasOn(connection()));

  it('lose nothing with the processes that counted', async () => {
    const memberNo = newMember();
    for (let i = 0; i < 100; i += 1) await quotasOn(connection()).take('messages', memberNo);
    const refused = await quotasOn(connection())
      .take('messages', memberNo)
      .catch((error) => error);
    expect(refused).include({ code: 'QUOTA_EXCEEDED' });
  });

  it('are one for all processes', async () => {
    const memberNo = newMember();
    const [one, two] = [quotasOn(connection()), quotasOn(connection())];
    await one.take('articles', memberNo);
    await two.take('articles', memberNo);
    const giveBack = await one.take('articles', memberNo);
    for (const quotas of [one, two, quotasOn(connection())]) await refusalOf(quotas, memberNo);
    giveBack();
    await two.take('articles', memberNo);
    await refusalOf(one, memberNo);
  });

  it('give nothing back to a window that has ended', async () => {
    const memberNo = newMember();
    const { commands } = connection();
    const giveBack = await quotasOn(connection()).take('articles', memberNo);
    const [key = ''] = await commands.keys(`adoption:quota:articles:${memberNo}`);
    expect(await commands.pttl(key)).within(DAY_MS - 60_000, DAY_MS);
    // As at the end of its day.
    await commands.pexpire(key, 5_000);
    const giveBackLate = await quotasOn(connection()).take('articles', memberNo);
    await commands.del(key);
    giveBack();
    const last = await fill(quotasOn(connection()), memberNo);
    // The next window has begun since: its records are not those of the first.
    giveBackLate();
    await refusalOf(quotasOn(connection()), memberNo);
    last();
    await quotasOn(connection()).take('articles', memberNo);
    await refusalOf(quotasOn(connection()), memberNo);
  });
});

describe('quotas on a Redis that answers a later call sooner', () => {
  /** Answers of calls, in turn: each with undefined, as if Redis were down, or the time to wait, once its gate is open. */
  function answering(...answers: { opened: Promise<void>; waitMs?: number }[]): RedisConnection {
    const ask = async () => {
      const answer = answers.shift();
      await answer?.opened;
      return answer?.waitMs === undefined ? undefined : [answer.waitMs];
    };
    return { ask } as unknown as RedisConnection;
  }

  it('let a member go on in the order of the calls, and others before', async () => {
    const stalled = gate();
    const quotas = quotasOn(answering(stalled));
    const order: string[] = [];
    const calls = [
      quotas.take('messages', 1).then(() => order.push('first')),
      quotas.take('messages', 1).then(() => order.push('second')),
      quotas.take('comments', 1).then(() => order.push('another kind')),
      quotas.take('messages', 2).then(() => order.push('another member')),
    ];
    await nextTurn(2);
    expect(order).have.members(['another kind', 'another member']);
    stalled.open();
    await Promise.all(calls);
    expect(order.slice(2)).deep.equal(['first', 'second']);
  });

  it('let a member go on after a refused call, and refuse in turn', async () => {
    const [stalled, open] = [gate(), gate()];
    open.open();
    const quotas = quotasOn(answering({ ...stalled, waitMs: 5 }, { ...open, waitMs: 7 }));
    const order: string[] = [];
    const refused = (error: { retryAfterMs: number }) => order.push(`refused for ${error.retryAfterMs} ms`);
    const calls = [
      quotas.take('messages', 1).catch(refused),
      quotas.take('messages', 1).catch(refused),
      quotas.take('messages', 1).then(() => order.push('third')),
    ];
    await nextTurn(2);
    expect(order).deep.equal([]);
    stalled.open();
    await Promise.all(calls);
    expect(order).deep.equal(['refused for 5 ms', 'refused for 7 ms', 'third']);
  });
});

describe('quotas while Redis is away', () => {
  const connections = openConnections();
  afterEach(() => connections.close());

  it('are counted by each process', async function () {
    if (!hasRedisServer) this.skip();
    const server = await startRedis();
    const redis = await connections.connect(server.url);
    const quotas = quotasOn(redis);
    const away = reaches(redis, 'down');
    await server.stop();
    await away;
    const giveBack = await fill(quotas, 1);
    await refusalOf(quotas, 1);
    giveBack();
    await quotas.take('articles', 1);
    await refusalOf(quotas, 1);
  });
});
