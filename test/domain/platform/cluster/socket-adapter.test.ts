import { expect } from 'chai';
import { Redis } from 'ioredis';
import { Server } from 'socket.io';
import { createSocketBus } from '../../../../domain/platform/cluster/socket-adapter.js';
import type { RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { eventually } from '../../../support/eventually.js';
import {
  droppedMessages,
  hasRedisServer,
  openConnections,
  startRedis,
  type TestRedis,
} from '../../../support/redis.js';

/** Prefix of the adapter's channels. */
const SOCKETS = 'adoption:sockets';

/** What somebody may publish, whatever the adapter would do about it. */
const foreign = [
  Buffer.from([0xc1, 0xff, 0x00]),
  Buffer.from([0x93, 0xa1, 0x78, 0x80, 0xc0]),
  ...['', '{', 'null', '[]', '7', 'x'.repeat(1_100_000)],
  // Every request that either adapter knows, and some that neither does, with parts missing.
  ...Array.from({ length: 14 }, (_, type) =>
    [undefined, null, 7, [], {}, { opts: { rooms: [], except: [] } }, { opts: { rooms: 7 } }].map((data) =>
      JSON.stringify({ uid: 'x', nsp: '/', type, data, ...(data as object), requestId: 'y' }),
    ),
  ).flat(),
];

for (const kind of ['classic', 'sharded'] as const) {
  (hasRedisServer ? describe : describe.skip)(`the ${kind} Socket.IO adapter`, () => {
    const connections = openConnections();
    let server: TestRedis;
    let admin: Redis;
    let here: RedisConnection;
    let there: RedisConnection;
    let io: Server;
    let taken: [room: string, data: unknown][];
    let dropped: string[];

    before(async () => {
      server = await startRedis();
      admin = new Redis(server.url);
    });
    after(async () => {
      admin?.disconnect();
      await server?.stop();
    });
    beforeEach(async () => {
      taken = [];
      dropped = [];
      [here, there] = [await connections.connect(server.url), await connections.connect(server.url)];
      const bus = createSocketBus(here, kind);
      io = new Server({ adapter: bus.adapter as never });
      io.of('/').adapter.addAll('a socket', new Set(['room:7']));
      bus.receive(
        (room) => room === 'room:7',
        (room, data) => taken.push([room, data]),
        (room) => dropped.push(room),
      );
      await eventually(async () => expect(await pushFrom(there, 'room:7', 'first')).to.be.above(0));
      await eventually(() => expect(taken).to.deep.equal([['room:7', ['typing', 'first']]]));
      taken = [];
    });
    afterEach(async () => {
      await io.of('/').adapter.close();
      await connections.close();
    });

    /** Pushes from a process without sockets. @returns how many subscribers of the room there are */
    async function pushFrom(from: RedisConnection, room: string, what: string): Promise<number> {
      const bus = createSocketBus(from, kind, false);
      const channel = `${SOCKETS}#/#${room}#`;
      const listening =
        kind === 'classic'
          ? Number(await admin.pubsub('NUMPAT'))
          : Number(((await admin.call('PUBSUB', 'SHARDNUMSUB', channel)) as unknown[])[1]);
      if (listening > 0) new Server({ adapter: bus.adapter as never }).to(room).emit('typing', what);
      return listening;
    }

    const publish = (channel: string, bytes: Buffer | string) =>
      kind === 'sharded' ? admin.spublish(channel, bytes) : admin.publish(channel, bytes);

    it('brings pushes to one room of this process, and no others', async () => {
      await pushFrom(there, 'room:8', 'elsewhere');
      await pushFrom(here, 'room:7', 'own');
      await pushFrom(there, 'room:7', 'another’s');
      await eventually(() => expect(taken).to.deep.equal([['room:7', ['typing', 'another’s']]]));
    });

    it('hears nothing in a process without sockets', async () => {
      const before = await admin.pubsub('NUMPAT');
      createSocketBus(there, kind, false).adapter(io.of('/'));
      await there.ping();
      expect(await admin.pubsub('NUMPAT')).to.equal(before);
    });

    it('makes nothing happen that anybody publishes, and counts it', async () => {
      const all = (await admin.call(
        'PUBSUB',
        kind === 'sharded' ? 'SHARDCHANNELS' : 'CHANNELS',
        `${SOCKETS}*`,
      )) as string[];
      const channels = new Set([...all, `${SOCKETS}#/#room:7#`, `${SOCKETS}#/#`]);
      const before = await droppedMessages('unsigned', 'unknown', 'too-large');
      for (const channel of channels) for (const bytes of foreign) await publish(channel, bytes);
      await pushFrom(there, 'room:7', 'the last');
      await eventually(() => expect(taken).to.deep.equal([['room:7', ['typing', 'the last']]]));
      expect(channels.size).to.equal(kind === 'sharded' ? 3 : 5);
      expect((await droppedMessages('unsigned', 'unknown', 'too-large')) - before).to.equal(
        channels.size * foreign.length,
      );
      expect([...io.of('/').adapter.rooms.keys()]).to.deep.equal(['room:7']);
    });

    it('brings of what processes publish only pushes to one room', async () => {
      const push = { type: 2, nsp: '/', data: ['typing', 'x'] };
      const opts = { rooms: ['room:7'], except: [], flags: {} };
      const broadcast = { type: 3, uid: 'x', nsp: '/', data: { packet: push, opts } };
      const broken =
        kind === 'classic'
          ? ['', '{']
          : [
              { ...broadcast, data: { ...broadcast.data, requestId: 'x' } },
              { ...broadcast, nsp: '/other' },
              { ...broadcast, type: 9 },
              ...[{ flags: { local: true } }, { except: ['x'] }, { rooms: [] }, { rooms: ['a', 'b'] }].map(
                (other) => ({
                  ...broadcast,
                  data: { packet: push, opts: { ...opts, ...other } },
                }),
              ),
              { ...broadcast, data: { opts, packet: { ...push, type: 3 } } },
              { ...broadcast, data: { opts, packet: { ...push, id: 3 } } },
            ].map((one) => JSON.stringify(one));
      const before = await droppedMessages('malformed');
      const command = kind === 'sharded' ? 'spublish' : 'publish';
      for (const text of broken) await there.publish(`${SOCKETS}#/#room:7#`, text, command);
      await pushFrom(there, 'room:7', 'the last');
      await eventually(() => expect(taken).to.deep.equal([['room:7', ['typing', 'the last']]]));
      expect((await droppedMessages('malformed')) - before).to.equal(broken.length);
      expect(dropped).to.deep.equal(Array(broken.length).fill('room:7'));
    });

    it('tells the room of a push that a process with another key has signed', async () => {
      const other = await connections.connect(server.url, 'the key of the processes before a reload');
      for (const room of ['room:8', 'room:7']) await pushFrom(other, room, 'signed by another key');
      await pushFrom(there, 'room:7', 'the last');
      await eventually(() => expect(taken).to.deep.equal([['room:7', ['typing', 'the last']]]));
      expect(dropped).to.deep.equal(['room:7']);
    });
  });
}
