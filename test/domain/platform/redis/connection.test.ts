import { expect } from 'chai';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { metrics } from '../../../../domain/platform/observe/metrics.js';
import { connectRedis, type RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { freePort } from '../../../../scripts/command/ports.js';
import { counted } from '../../../support/counted.js';
import { eventually } from '../../../support/eventually.js';
import {
  droppedMessages,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../../../support/redis.js';

/** Any promise nobody awaited fails the test that is running: mocha sees to it. */
describe('the connection to Redis', () => {
  const connections = openConnections();
  const silent = createLogger('silent', 'test');
  let server: TestRedis;
  let redis: RedisConnection;
  let heard: string[];

  before(function () {
    if (!hasRedisServer) this.skip();
  });
  beforeEach(async () => {
    server = await startRedis();
    redis = await connections.connect(server.url);
    heard = [];
    const subscriber = redis.subscriber();
    subscriber.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      if (channel.toString() === 'plain') heard.push(`plain ${message}`);
    });
    subscriber.on('pmessageBuffer', (_pattern: string, _channel: Buffer, message: Buffer) => {
      heard.push(`pattern ${message}`);
    });
    subscriber.on('smessageBuffer', (_channel: Buffer, message: Buffer) => {
      heard.push(`shard ${message}`);
    });
    await Promise.all([
      subscriber.subscribe('plain'),
      subscriber.psubscribe('pattern*'),
      subscriber.ssubscribe('shard'),
    ]);
  });
  afterEach(async () => {
    await connections.close();
    await server.stop();
  });

  async function value(metric: { get(): Promise<{ values: { value: number }[] }> }): Promise<number> {
    return (await metric.get()).values[0]?.value ?? 0;
  }

  async function publishEverywhere(text: string): Promise<void> {
    const publisher = redis.publisher();
    await Promise.all([
      publisher.publish('plain', text),
      publisher.publish('pattern-1', text),
      publisher.spublish('shard', text),
    ]);
  }

  async function hearsEverything(text: string): Promise<void> {
    await publishEverywhere(text);
    await eventually(() =>
      expect(heard).include.members([`plain ${text}`, `pattern ${text}`, `shard ${text}`]),
    );
  }

  it('answers commands and receives messages of every kind', async () => {
    await redis.ping();
    expect(redis.down).equal(false);
    expect(await redis.ask((commands) => commands.echo('hello'))).equal('hello');
    await hearsEverything('hello');
  });

  it('is measured: commands by name and outcome, and the way of a published message', async () => {
    const measured = () =>
      Promise.all([
        counted(metrics.redisCommands, { command: 'echo', outcome: 'ok' }),
        counted(metrics.redisCommands, { command: 'incr', outcome: 'failed' }),
        counted(metrics.redisCommands, { command: 'publish', outcome: 'ok' }),
        counted(metrics.redisEcho),
      ]);
    const before = await measured();
    await redis.commands.echo('hello');
    await redis.commands.set('text', 'no number');
    await redis.commands.incr('text').catch(() => undefined);
    await redis.ping();
    // The echo may be here before the answer to its publish.
    await eventually(async () => {
      const risen = (await measured()).map((count, i) => count - (before[i] ?? 0));
      expect(risen.slice(0, 2)).deep.equal([1, 1]);
      expect(Math.min(...risen.slice(2)), 'a check may run meanwhile').above(0);
    });
    const missed = await counted(metrics.redisEchoesMissed);
    server.pause();
    await eventually(async () => expect(await counted(metrics.redisEchoesMissed)).above(missed));
    server.resume();
  });

  it('works without Redis until it is up', async () => {
    const port = await freePort();
    const early = connectRedis(`redis://127.0.0.1:${port}`, silent);
    expect(early.down).equal(true);
    const failures = await value(metrics.redisPublishFailures);
    expect(await early.connected(50)).equal(false);
    expect(early.down).equal(true);
    const before = performance.now();
    expect(await early.ask((commands) => commands.get('key'))).equal(undefined);
    expect(await early.publisher().publish('plain', 'lost')).equal(0);
    expect(performance.now() - before).below(50);
    expect((await value(metrics.redisPublishFailures)) - failures).equal(1);
    const refused = await early.ping().then(
      () => undefined,
      (error) => error,
    );
    expect(refused).include({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    // Asked for before there is anything to ask: it stands later.
    const subscribed = early.subscriber().subscribe('early');
    const late = await startRedis([], port);
    expect(await early.connected(5_000)).equal(true);
    await subscribed;
    await early.ping();
    await early.close();
    await late.stop();
  });

  it('recovers from an outage, with its subscriptions and without sending stale messages', async () => {
    const away = reaches(redis, 'down');
    server.pause();
    const failures = [redis.commands.incr('under way').catch(() => 'failed')];
    await server.kill();
    await away;
    expect(await value(metrics.redisUp)).equal(0);
    failures.push(redis.commands.incr('while away').catch(() => 'failed'));
    expect(await Promise.all(failures)).deep.equal(['failed', 'failed']);
    for (let i = 0; i < 1_000; i += 1) void redis.publisher().publish('plain', `stale ${i}`);
    const before = performance.now();
    expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    expect(performance.now() - before).below(50);
    const back = reaches(redis, 'up');
    await server.restart();
    await back;
    expect(await value(metrics.redisUp)).equal(1);
    await hearsEverything('again');
    expect(heard.join()).not.include('stale');
    expect(await redis.commands.exists('under way', 'while away')).equal(0);
  });

  it('waits once, not every time, for a frozen Redis, and sends it nothing stale', async () => {
    server.pause();
    const before = performance.now();
    expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    expect(performance.now() - before).within(500, 1_500);
    expect(redis.down).equal(true);
    // The publisher gives its connection up: what it is asked to send from here on goes nowhere.
    void redis.publisher().publish('plain', 'the last one taken');
    await new Promise((resolve) => redis.publisher().once('close', resolve));
    const asked = performance.now();
    for (let i = 0; i < 100; i += 1) {
      void redis.publisher().publish('plain', `stale ${i}`);
      expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    }
    expect(performance.now() - asked).below(100);
    const back = reaches(redis, 'up');
    server.resume();
    await back;
    await hearsEverything('again');
    expect(heard.join()).not.include('stale');
  });

  it('recovers from CLIENT PAUSE', async () => {
    const away = reaches(redis, 'down');
    await redis.commands.client('PAUSE', 2_500, 'ALL');
    expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    await away;
    await reaches(redis, 'up');
    await hearsEverything('again');
  });

  it('reports `back` after only the subscriber was disconnected', async () => {
    const back = reaches(redis, 'up');
    await redis.commands.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await back;
    await hearsEverything('again');
  });

  it('recovers after being disconnected as a slow reader', async () => {
    const back = reaches(redis, 'up');
    await redis.commands.config('SET', 'client-output-buffer-limit', 'pubsub 100kb 100kb 0');
    await redis.publisher().publish('plain', 'x'.repeat(900_000));
    await back;
    await hearsEverything('again');
  });

  it('counts a replica, which refuses writes, as away until it is a master again', async () => {
    const master = await startRedis();
    const away = reaches(redis, 'down');
    await redis.commands.replicaof('127.0.0.1', master.port);
    await away;
    expect(redis.down).equal(true);
    const other = await connections.connect(master.url);
    await other.ping();
    const back = reaches(redis, 'up');
    // Over a connection of its own: ours is given up whenever the replica refuses a write.
    const admin = connectRedis(server.url, silent);
    await eventually(() => admin.commands.replicaof('NO', 'ONE'));
    await back;
    await hearsEverything('again');
    await admin.close();
    await other.close();
    await master.stop();
  });

  it('drops and counts messages whose listener fails, and too large ones', async () => {
    const dropped = await droppedMessages('malformed', 'too-large');
    redis.subscriber().on('messageBuffer', (_channel: Buffer, message: Buffer) => {
      if (message.toString() === 'throws') throw new Error('malformed');
    });
    // Whoever listens for text hears each message a second time.
    redis.subscriber().on('message', () => {});
    redis.subscriber().on('messageBuffer', async (_channel: Buffer, message: Buffer) => {
      if (message.toString() === 'rejects') throw new Error('malformed');
    });
    const [longest, tooLong] = ['x'.repeat(1_048_576), 'y'.repeat(1_048_577)];
    for (const text of ['throws', 'rejects', longest, tooLong, 'good']) {
      await redis.publisher().publish('plain', text);
    }
    await eventually(() => expect(heard).include('plain good'));
    const said = heard.map((text) => text.replace(longest, 'the longest').slice(0, 20));
    expect(said).deep.equal(['plain throws', 'plain rejects', 'plain the longest', 'plain good']);
    expect((await droppedMessages('malformed', 'too-large')) - dropped).equal(3);
  });

  it('does not call a removed listener', async () => {
    let count = 0;
    const listener = () => {
      count += 1;
    };
    redis.subscriber().on('messageBuffer', listener);
    await hearsEverything('one');
    redis.subscriber().off('messageBuffer', listener);
    const before = count;
    await hearsEverything('two');
    expect(count).equal(before);
  });

  it('closes, whatever Redis does', async () => {
    server.pause();
    redis.on('down', () => heard.push('away'));
    const before = performance.now();
    await redis.close();
    expect(performance.now() - before).below(1_500);
    expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    expect(await redis.publisher().publish('plain', 'late')).equal(0);
    expect(redis.down).equal(true);
    expect(await value(metrics.redisUp)).equal(0);
    expect(heard, 'nobody is told who has closed it').deep.equal([]);
    server.resume();
  });
});
