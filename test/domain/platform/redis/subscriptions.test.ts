import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startTcpProxy } from '../../../../scripts/command/tcp-proxy.js';
import { eventually } from '../../../support/eventually.js';
import {
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../../../support/redis.js';

/** Three echoes missed, one every two seconds, and the subscriber connects anew. */
const RETURN_WITHIN_MS = 15_000;

describe('subscriptions refused for a while', () => {
  const connections = openConnections();
  let server: TestRedis;

  before(function () {
    if (!hasRedisServer) this.skip();
  });
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await connections.close();
    await server.stop();
  });

  it('are restored once Redis allows them', async () => {
    // ioredis subscribes again after a lost connection, once: what was refused then was forgotten, and the
    // process stayed deaf, /readyz 503, until it was started anew.
    const redis = await connections.connect(server.url);
    const heard = new Set<string>();
    const own = ['plain', 'plain-too', 'pattern*', 'sharded', 'left'];
    const subscriber = redis.subscriber();
    subscriber.on('messageBuffer', (channel: Buffer) => heard.add(channel.toString()));
    subscriber.on('pmessageBuffer', (pattern: string) => heard.add(pattern));
    subscriber.on('smessageBuffer', (channel: Buffer) => heard.add(channel.toString()));
    await subscriber.subscribe('plain', 'plain-too');
    await subscriber.psubscribe('pattern*');
    await subscriber.ssubscribe('sharded');
    await subscriber.subscribe('left');
    await subscriber.unsubscribe('left');
    const admin = new Redis(server.url);
    // Ends the connections of subscribers, which may not subscribe again.
    await admin.acl('SETUSER', 'default', 'resetchannels');
    // Looked at, not listened to: on a busy machine an echo may have come too late before.
    const hears = () =>
      redis.ping().then(
        () => true,
        () => false,
      );
    await eventually(async () => expect(await hears()).to.equal(false));
    // Of all that is refused, the subscriber alone asks for a pattern.
    await eventually(async () => expect(String(await admin.acl('LOG'))).to.include('pattern*'));
    await admin.acl('SETUSER', 'default', 'allchannels');
    await eventually(async () => expect(await hears()).to.equal(true), RETURN_WITHIN_MS);
    await eventually(async () => {
      for (const channel of ['plain', 'plain-too', 'pattern-1', 'left']) await admin.publish(channel, 'x');
      await admin.spublish('sharded', 'x');
      expect(own.filter((channel) => heard.has(channel))).to.deep.equal(own.slice(0, -1));
    }, RETURN_WITHIN_MS);
    admin.disconnect();
  });

  it('are all restored before Redis counts as back', async () => {
    // Commands, without their beginning in the first case.
    const held: (() => void)[] = [];
    let isHolding = false;
    let asked = () => {};
    const proxy = await startTcpProxy(
      () => server.port,
      () => {
        let isHeld = false;
        return {
          request(bytes, pass) {
            const hold = (later: Buffer) => {
              held.push(() => pass(later));
              if (later.includes('ping')) asked();
            };
            if (isHeld) return hold(bytes);
            const at = isHolding ? bytes.indexOf('psubscribe') : -1;
            if (at < 0) return pass(bytes);
            isHeld = true;
            pass(bytes.subarray(0, at));
            hold(bytes.subarray(at));
          },
        };
      },
    );
    const redis = await connections.connect(`redis://127.0.0.1:${proxy.port}`);
    await redis.subscriber().psubscribe('pattern*');
    isHolding = true;
    const first = Promise.race([
      reaches(redis, 'up').then(() => 'back'),
      new Promise((resolve) => {
        asked = () => resolve('asked');
      }),
    ]);
    const away = reaches(redis, 'down');
    await redis.commands.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await away;
    expect(await first, 'it is asked behind the subscriptions').equal('asked');
    isHolding = false;
    const back = reaches(redis, 'up');
    for (const pass of held.splice(0)) pass();
    await back;
    await connections.close();
    await proxy.close();
  });
});
