import { expect } from 'chai';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import type { MessageRecord } from '../../../domain/chat/message.model.js';
import type { RoomRecord } from '../../../domain/chat/room.model.js';
import type { MessagePayload, RoomView } from '../../../domain/kernel/live.js';
import type { Cluster } from '../../support/cluster.js';
import type { ClusterMember, ClusterRoom } from '../../support/cluster-members.js';
import { eventually } from '../../support/eventually.js';
import { type Client, connect } from '../../support/sockets.js';

/** Time, in ms, in which what pub/sub has lost reaches those who look connected. (contract, promise 5) */
const MADE_GOOD_MS = 10_000;

interface ReadEvent {
  chatNo: number;
  memberNo: number;
  seq: number;
}

/** Comparison with the database, over a cluster of at least two gateways. */
export function itMakesLostPushesGood(given: () => Cluster): void {
  describe('pushes that got lost between processes', () => {
    let cluster: Cluster;
    let database: MongoClient;

    before(async () => {
      cluster = given();
      database = await MongoClient.connect(`mongodb://127.0.0.1:${cluster.mongoPort}`);
    });
    after(() => database?.close());

    const gateway = (i: number) => cluster.gateways[i] as string;

    const say = (client: Client, chatNo: number, content: string) =>
      client.ask('message:send', { chatNo, contentType: 'text', content });

    /** That the last state a member's connection was told is the one that a fresh look finds. */
    async function expectFresh(
      client: Client,
      who: ClusterMember,
      { chatNo, saleNo }: ClusterRoom,
    ): Promise<void> {
      await eventually(async () => {
        const { body } = await who.get<RoomView[]>(`/chatroom?saleNo=${saleNo}`);
        const told = client.heard<RoomView>('room').filter((room) => room.chatNo === chatNo);
        expect(told.at(-1)).to.deep.equal(body[0]);
      }, MADE_GOOD_MS);
    }

    /** That a connection was told, by the message or behind it, that another has read what it was shown. */
    async function expectRead(client: Client, { no }: ClusterMember, seq: number): Promise<void> {
      await eventually(() => {
        const read = client.heard<ReadEvent>('message:read').filter(({ memberNo }) => memberNo === no);
        const shown = client.heard<MessagePayload>('message').find((message) => message.seq === seq);
        expect(shown?.readCount === 0 || read.at(-1)?.seq === seq, JSON.stringify({ shown, read })).to.equal(
          true,
        );
        expect(
          read.map((event) => event.seq),
          'forward only',
        ).to.deep.equal([...new Set(read.map((event) => event.seq))].sort());
      }, MADE_GOOD_MS);
    }

    it('by a process that ended before it told: message, read position and room list reach everybody who joined', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
      const device = await connect(asker, {}, gateway(1));
      await Promise.all([one.ask('room:join', { chatNo }), two.ask('room:join', { chatNo })]);
      await say(two, chatNo, 'one');
      await say(one, chatNo, 'two');
      await Promise.all(
        [one, two].map((client) => client.next('message', ({ seq }: { seq: number }) => seq === 2)),
      );
      await two.ask('room:leave', { chatNo });
      await say(one, chatNo, 'three');
      await two.ask('room:join', { chatNo, after: 2 });
      await expectFresh(device, asker, room);

      // All that is left of it: its writes.
      const [rooms, messages] = [
        database.db('adoption').collection<RoomRecord>('rooms'),
        database.db('adoption').collection<MessageRecord>('messages'),
      ];
      const head = (await messages.findOne({ chatNo, seq: 3 })) as MessageRecord;
      await messages.insertOne({
        ...head,
        _id: 'of a process that has ended',
        seq: 4,
        content: 'four',
        sentAt: new Date(),
        sent: { ...head.sent, creator: head.sent.creator + 1 },
      });
      await rooms.updateOne(
        { _id: chatNo },
        { $set: { 'read.joiner': { seq: 4, others: head.sent.creator + 1 } } },
      );

      await Promise.all([expectRead(one, asker, 4), expectRead(two, asker, 4)]);
      await Promise.all([
        expectFresh(one, author, room),
        expectFresh(two, asker, room),
        expectFresh(device, asker, room),
      ]);
    });

    it('of a read position alone: the sender sees it, and the reader’s other devices count anew', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const [sender, device] = await Promise.all([
        connect(asker, {}, gateway(1)),
        connect(author, {}, gateway(1)),
      ]);
      await sender.ask('room:join', { chatNo });
      await say(sender, chatNo, 'one');
      await device.next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);
      await database
        .db('adoption')
        .collection<RoomRecord>('rooms')
        .updateOne({ _id: chatNo }, { $set: { 'read.creator': { seq: 1, others: 1 } } });
      await Promise.all([expectRead(sender, author, 1), expectFresh(device, author, room)]);
    });

    it('while Redis was away: also those who have not joined see the rooms as they are', async () => {
      const [joined, written, read] = await Promise.all([
        cluster.openRoom(),
        cluster.openRoom(),
        cluster.openRoom(),
      ]);
      const { chatNo } = joined;
      const [author, asker, device] = await Promise.all([
        connect(joined.author, {}, gateway(0)),
        connect(joined.asker, {}, gateway(1)),
        connect(joined.asker, {}, gateway(0)),
      ]);
      await author.ask('room:join', { chatNo });
      const elsewhere = await Promise.all([
        connect(written.author, {}, gateway(1)),
        connect(read.author, {}, gateway(1)),
      ]);
      const readers = await connect(read.asker, {}, gateway(0));
      await say(readers, read.chatNo, 'unread');
      await elsewhere[1].next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);
      await say(author, chatNo, 'before');
      await asker.next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);

      await cluster.redis.kill();
      // The reader's other devices, and the author on the other gateway, hear nothing of these.
      expect(await asker.ask('message:read', { chatNo, seq: 1 })).to.include({ status: 200 });
      await read.author.get(`/chatroom/${read.chatNo}`);
      const pushed = { id: null, chatNo: written.chatNo, contentType: 'text', content: 'pushed' };
      expect(await written.asker.post('/chatroom/notification', pushed)).to.include({ status: 200 });
      await cluster.redis.restart();

      await Promise.all([
        expectRead(author, joined.asker, 1),
        expectFresh(device, joined.asker, joined),
        expectFresh(elsewhere[0], written.author, written),
        expectFresh(elsewhere[1], read.author, read),
      ]);
    });

    it('of who is present: a subscriber that was cut off tells what it has not heard', async () => {
      const { author, asker, chatNo } = await cluster.openRoom();
      const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
      await one.ask('room:join', { chatNo });
      await two.ask('room:join', { chatNo });
      await one.next<{ memberNo: number }>('presence', ({ memberNo }) => memberNo === asker.no);
      const commands = new Redis(cluster.redis.port);
      await commands.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await commands.quit();
      await two.ask('room:leave', { chatNo });
      await eventually(() => {
        expect(one.heard('presence').at(-1)).to.deep.equal({ chatNo, memberNo: asker.no, present: false });
      }, MADE_GOOD_MS);
    });
  });
}
