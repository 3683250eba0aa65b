import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { MessagePayload, NotificationView, RoomView } from '../../../domain/kernel/live.js';
import { redisChannels } from '../../../domain/kernel/redis-keys.js';
import { chatRoom, memberRoom } from '../../../domain/kernel/socket-rooms.js';
import { message, notification, view } from '../../gateway/examples.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import type { ClusterRoom } from '../../support/cluster-members.js';
import { eventually } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { metric } from '../../support/rest.js';
import { type Client, connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';

/** Reaches Redis, but is none of our processes: its id is as long as theirs. */
const FORGER = 'forger------';
const SIGNATURE = 'x'.repeat(22);

interface Opened extends ClusterRoom {
  /** The author's client, on the first gateway. */
  one: Client;
  /** The asker's client, on the second. */
  two: Client;
}

for (const { adapter, key } of [
  { adapter: 'sharded', key: '' },
  { adapter: 'classic', key: 'a key that whoever forges does not have' },
] as const) {
  const suite = hasRedisServer ? describe : describe.skip;
  suite(`messages forged in Redis, ${adapter} adapter, ${key ? 'with' : 'without'} a signing key`, function () {
    this.timeout(60_000);
    let cluster: Cluster;
    let forger: Redis;

    before(async () => {
      cluster = await startCluster({ http: 1, gateways: 2, adapter, env: { REDIS_SIGNING_KEY: key } });
      forger = new Redis(cluster.redis.port, '127.0.0.1');
    });
    after(async () => {
      forger?.disconnect();
      const faults = cluster?.faults();
      await cluster?.stop();
      expect(faults).to.deep.equal([]);
    });
    afterEach(() => {
      for (const { name, running } of cluster.processes) expect(running, `${name} lives`).to.equal(true);
    });

    /** Publishes to a channel in both ways, as anybody and under a wrong signature. */
    async function publish(channel: string, text: string): Promise<void> {
      for (const sealed of [text, FORGER + text, SIGNATURE + FORGER + text]) {
        await forger.publish(channel, sealed);
        await forger.spublish(channel, sealed);
      }
    }

    /** Pushes as a process of ours would. */
    async function forge(room: string, data: unknown[]): Promise<void> {
      const channel = `${redisChannels.sockets}#/#${room}#`;
      const opts = { rooms: [room], except: [], flags: {} };
      const broadcast = { type: 3, uid: 'x', nsp: '/', data: { packet: { type: 2, nsp: '/', data }, opts } };
      await publish(channel, JSON.stringify(adapter === 'sharded' ? broadcast : data));
    }

    /** Everything that was forged has arrived at both gateways. */
    async function forgedHasArrived({ chatNo, author, one, two }: Opened): Promise<void> {
      const typing = { chatNo, memberNo: author.no, typing: true };
      if (!key) {
        // The only event that is shown although anybody may have sent it.
        await forge(chatRoom(chatNo), ['typing', typing]);
      } else one.socket.emit('typing', typing);
      await Promise.all([one, two].map((client) => client.next('typing')));
    }

    async function open(): Promise<Opened> {
      const room = await cluster.openRoom();
      const [one, two] = await Promise.all([
        connect(room.author, {}, cluster.gateways[0]),
        connect(room.asker, {}, cluster.gateways[1]),
      ]);
      return { ...room, one, two };
    }

    /** Both clients, and one that comes later, have the room as it is stored, without gap. */
    async function expectWhole({ chatNo, asker, one, two }: Opened, last: number): Promise<void> {
      const late = await connect(asker, {}, cluster.gateways[0]);
      const { messages } = await late.join<{ messages: MessagePayload[] }>(chatNo);
      expect(messages.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: last }, (_, i) => i + 1));
      for (const client of [one, two]) {
        await client.next<MessagePayload>('message', ({ seq }) => seq === last);
        expect(client.heard<MessagePayload>('message').map(({ id }) => id)).to.deep.equal(
          messages.map(({ id }) => id),
        );
      }
    }

    if (!key) {
      it('are expected by every process, which says so at its start', () => {
        for (const { name, warnings } of cluster.processes) {
          expect(warnings().join('\n'), name).to.include('REDIS_SIGNING_KEY is not set');
        }
      });
    }

    it('27: make the adapter do nothing: nobody is moved, disconnected or listed, and no gateway ends', async () => {
      const opened = await open();
      const { chatNo, one, two } = opened;
      // In this order: without a key an arrival in a process's first seconds is shown by its next refresh only.
      await two.join(chatNo);
      await one.join(chatNo);
      const channels = [`${redisChannels.sockets}-request#/#`, `${redisChannels.sockets}-response#/#`];
      const opts = { rooms: [], except: [] };
      for (let type = 0; type < 14; type += 1) {
        const asked = {
          type,
          uid: 'x',
          nsp: '/',
          requestId: 'y',
          sid: one.socket.id,
          room: 'x',
          close: true,
        };
        for (const more of [{ opts }, {}, { opts, rooms: ['x'] }]) {
          const data = { ...more, packet: { type: 2, data: ['forged', 1] }, requestId: 'y', close: true };
          for (const channel of [
            ...channels,
            `${redisChannels.sockets}#/#`,
            `${redisChannels.sockets}#/#${chatRoom(chatNo)}#`,
          ]) {
            await publish(channel, JSON.stringify({ ...asked, ...more, data }));
          }
        }
      }
      await publish(channels[0] as string, '{"type":2,"opts":{"rooms":[],"except":[]}}');
      await forgedHasArrived(opened);
      expect([one, two].map(({ socket }) => socket.connected)).to.deep.equal([true, true]);
      await two.ask('room:leave', { chatNo });
      two.socket.disconnect();
      await one.next('presence', ({ present }: { present: boolean }) => !present);
      expect(one.heard('forged')).to.deep.equal([]);
      await cluster.ready();
      for (const base of cluster.gateways) {
        expect(
          await metric(base, 'adoption_redis_messages_dropped_total{reason="unknown"}'),
          base,
        ).to.be.above(0);
        if (key) {
          expect(
            await metric(base, 'adoption_redis_messages_dropped_total{reason="unsigned"}'),
            base,
          ).to.be.above(0);
        }
      }
    });

    it('27: bring no message into a room and keep none from it', async () => {
      const opened = await open();
      const { chatNo, author, one, two } = opened;
      await Promise.all([one.join(chatNo), two.join(chatNo)]);
      await one.send(chatNo, 'one');
      await two.next('message');
      const forged = { ...message, chatNo, senderNo: author.no };
      for (const seq of [2, 3, 7]) {
        await forge(chatRoom(chatNo), ['message', { ...forged, id: `forged-${seq}`, seq }]);
      }
      await forgedHasArrived(opened);
      await two.send(chatNo, 'two');
      await one.send(chatNo, 'three');
      await two.send(chatNo, 'four');
      await expectWhole(opened, 4);
    });

    it('27: show and store nothing as read', async () => {
      const opened = await open();
      const { chatNo, asker, author, one } = opened;
      await one.join(chatNo);
      await one.send(chatNo, 'one');
      await forge(chatRoom(chatNo), ['message:read', { chatNo, memberNo: asker.no, seq: 1 }, 1]);
      await one.send(chatNo, 'two');
      await forge(memberRoom(asker.no), [
        'room',
        { ...view, chatNo, createMember: author.no, joinMember: asker.no, unReadCount: 99 },
        { seq: 99, read: 0 },
      ]);
      await one.send(chatNo, 'three');
      await opened.two.next<RoomView>('room', ({ unReadCount }) => unReadCount === 3);
      expect(one.heard('message:read')).to.deep.equal([]);
      expect(opened.two.heard<RoomView>('room').map(({ unReadCount }) => unReadCount)).not.to.include(99);
      const { body } = await asker.get<RoomView[]>('/chatroom');
      expect(body[0]?.unReadCount).to.equal(3);
    });

    it('27: change nobody’s presence, now or later', async () => {
      const opened = await open();
      const { chatNo, asker, one, two } = opened;
      await one.join(chatNo);
      await two.join(chatNo);
      const gone = { chatNo, memberNo: asker.no, present: false };
      await one.next('presence', ({ present }: { present: boolean }) => present);
      await forge(chatRoom(chatNo), ['presence', gone, Number.MAX_SAFE_INTEGER]);
      await publish(redisChannels.presenceCleared, String(chatNo));
      await forgedHasArrived(opened);
      expect(one.heard<{ present: boolean }>('presence').map(({ present }) => present)).not.to.include(false);
      await two.ask('room:leave', { chatNo });
      await one.next('presence', ({ present }: { present: boolean }) => !present);
    });

    it('27: notify nobody on sockets and streams, which get what is stored', async () => {
      const opened = await open();
      const { chatNo, asker, one, two } = opened;
      const stream = await openStream(asker, { base: cluster.http[0] as string });
      await stream.next();
      await Promise.all([one.join(chatNo), two.join(chatNo)]);
      const forged = { ...notification, id: 1_000_000, content: 'forged' };
      await forge(memberRoom(asker.no), ['notification', forged]);
      for (const n of [1, 2, 50]) {
        const delivery = { memberNo: asker.no, n, view: forged };
        await publish(redisChannels.deliveries(asker.no), JSON.stringify(delivery));
        await publish(redisChannels.deliveries(asker.no), JSON.stringify({ from: 'x', delivery }));
      }
      await forgedHasArrived(opened);
      await two.ask('room:leave', { chatNo });
      await one.send(chatNo, 'are you there?');
      await two.next<NotificationView>('notification', ({ type }) => type === 'chat');
      await stream.next(({ data }) => data.includes('"chat"'));
      await eventually(() => expect(two.heard('notification')).to.have.length(1));
      expect(stream.events.filter(({ data }) => data.includes('forged'))).to.deep.equal([]);
    });
  });
}
