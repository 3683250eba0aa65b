import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Cluster } from 'ioredis';
import { pino } from 'pino';
import { redisKeys } from '../../../../domain/kernel/redis-keys.js';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { COMMAND_TIMEOUT_MS } from '../../../../domain/platform/redis/clients.js';
import { connectRedis } from '../../../../domain/platform/redis/connection.js';
import { RedisEcho } from '../../../../domain/platform/redis/echo.js';
import { startTcpProxy, type TcpProxy } from '../../../../scripts/command/tcp-proxy.js';
import { eventually, nextTurn } from '../../../support/eventually.js';
import {
  droppedMessages,
  hasRedisServer,
  openConnections,
  reaches,
  SIGNING_KEY,
  startRedis,
  type TestRedis,
} from '../../../support/redis.js';
import { fakeTime, later } from '../../../support/time.js';

const silent = createLogger('silent', 'test');

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

/** An answer of Redis that refuses a command. */
const refusal = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('the health of the connection to Redis', () => {
  const connections = openConnections();
  let server: TestRedis;
  let proxy: TcpProxy | undefined;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  afterEach(async () => {
    await connections.close();
    await proxy?.close();
    proxy = undefined;
  });
  after(() => server?.stop());

  it('is `away` after errors that say Redis answers nothing, until the next check', async () => {
    const redis = await connections.connect(server.url);
    for (const message of [
      "READONLY You can't write against a read only replica.",
      'LOADING Redis is loading the dataset in memory',
      'MASTERDOWN Link with MASTER is down',
      'CLUSTERDOWN The cluster is down',
      'BUSY Redis is busy running a script.',
      'NOAUTH Authentication required.',
      'WRONGPASS invalid username-password pair',
    ]) {
      const away = reaches(redis, 'down');
      expect(await redis.ask(() => Promise.reject(refusal(message))), message).equal(undefined);
      expect(redis.down, message).equal(true);
      await away;
      await redis.ping();
      expect(redis.down).equal(false);
    }
  });

  it('is checked at once after a command without an answer: perhaps only this process was too busy to hear it', async () => {
    const regular = mock.method(globalThis, 'setInterval', () => setTimeout(() => {}));
    const redis = await connections.connect(server.url).finally(() => regular.mock.restore());
    const back = reaches(redis, 'up');
    expect(await redis.ask(() => Promise.reject(new Error('Command timed out')))).to.equal(undefined);
    expect(redis.down).to.equal(true);
    await back;
  });

  it('is unaffected by a stall of the process: the answers have arrived', async () => {
    const redis = await connections.connect(server.url);
    const asked = Promise.all([redis.ask((commands) => commands.echo('here')), redis.ping()]);
    // Commands leave in this turn.
    await nextTurn();
    const end = performance.now() + COMMAND_TIMEOUT_MS + 100;
    while (performance.now() < end);
    expect(await asked).to.deep.equal(['here', undefined]);
    expect(redis.down).to.equal(false);
  });

  it('is unaffected by refused commands', async () => {
    const redis = await connections.connect(server.url);
    for (const message of [
      'TRYAGAIN Multiple keys request during rehashing of slot',
      "ERR unknown command 'foo'",
      'WRONGTYPE Operation',
      'NOSCRIPT',
      'READ',
    ]) {
      expect(await redis.ask(() => Promise.reject(refusal(message)))).equal(undefined);
      expect(redis.down, message).equal(false);
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
    const { reason, msg } = JSON.parse(lines[0] as string);
    expect([reason, msg]).deep.equal(['ERR wrong number of arguments', 'Redis refused a command']);
  });

  it('logs dropped messages once in five seconds', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const { setInterval } = globalThis;
    // Without looks: one that is under way when the time jumps takes the connection for lost.
    globalThis.setInterval = (() => ({ unref() {} })) as never;
    const redis = connectRedis(server.url, logger, SIGNING_KEY);
    globalThis.setInterval = setInterval;
    try {
      expect(await redis.connected(5_000)).equal(true);
      await redis.subscriber().subscribe('plain');
      redis.listen(
        'messageBuffer',
        (channel) => channel === 'plain',
        () => {},
      );
      for (const [ms, count] of [
        [0, 1],
        [3_000, 1],
        [4_000, 1],
        [6_000, 2],
      ] as const) {
        const dropped = await droppedMessages('unsigned');
        await later(ms, async () => {
          await redis.publisher().publish('plain', 'of anybody');
          await eventually(async () => expect(await droppedMessages('unsigned')).equal(dropped + 1));
        });
        expect(lines, `after ${ms} ms`).length(count);
      }
    } finally {
      await redis.close();
    }
    expect(lines.map((line) => JSON.parse(line).others)).deep.equal([0, 2]);
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
    proxy = await startTcpProxy(() => server.port);
    const redis = await connections.connect(`redis://127.0.0.1:${proxy.port}`);
    // The subscriber's part of the look; what is written and read goes on.
    const asked = new Promise<void>((resolve) => {
      proxy?.holdAfter((bytes) => {
        const isPing = bytes.includes('ping');
        if (isPing) resolve();
        return isPing;
      });
    });
    const look = redis.ping().catch((error) => error);
    await asked;
    await redis.commands.get('key');
    const away = reaches(redis, 'down');
    redis.commands.disconnect();
    await away;
    proxy.release();
    expect(await look).include({ code: 'SERVICE_UNAVAILABLE' });
    expect(redis.down).equal(true);
  });

  it('fails commands between two connections, without sending them later', async () => {
    const redis = await connections.connect(server.url);
    const outcomes: Promise<unknown>[] = [];
    redis.commands.once('close', () => {
      outcomes.push(redis.commands.incr('between').catch(() => 'failed'));
    });
    const away = reaches(redis, 'down');
    redis.commands.disconnect(true);
    await away;
    await reaches(redis, 'up');
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
    const off = redis.on('down', () => {
      told += 1;
    });
    off();
    await redis.ask(() => Promise.reject(new Error('lost')));
    expect([redis.down, told]).deep.equal([true, 0]);
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

  for (const scheme of ['redis', 'redis+cluster']) {
    it(`rejects a check within the time-out while ${scheme} was never reached`, async () => {
      const redis = connectRedis(`${scheme}://${NOWHERE}`, silent);
      try {
        const answers = [1, 2].map(() => redis.ping().catch(({ code }) => code));
        expect(await Promise.all(answers)).deep.equal(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
      } finally {
        await redis.close();
      }
    });
  }

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
