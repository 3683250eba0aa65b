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

/** Time, in ms, within which connected clients get what pub/sub lost. (contract, promise 5) */
const MADE_GOOD_MS = 10_000;

interface ReadEvent {
  chatNo: number;
  memberNo: number;
  seq: number;
}

/** The comparison with the database, in a cluster of at least two gateways. */
export function itMakesLostPushesGood(given: () => Cluster): void {
  describe('pushes lost between processes', () => {
    let cluster: Cluster;
    let database: MongoClient;

    before(async () => {
      cluster = given();
      database = await MongoClient.connect(`mongodb://127.0.0.1:${cluster.mongoPort}`);
    });
    after(() => database?.close());

    const gateway = (i: number) => cluster.gateways[i] as string;

    /** The last state of the room that a client received becomes the one that REST answers. */
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

    /** A client learns, with the message or after it, that another member has read it. */
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

    it('of a process that ended before publishing: message, read position and room list reach everyone in the room', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
      const device = await connect(asker, {}, gateway(1));
      await Promise.all([one.join(chatNo), two.join(chatNo)]);
      await two.send(chatNo, 'one');
      await one.send(chatNo, 'two');
      await Promise.all(
        [one, two].map((client) => client.next('message', ({ seq }: { seq: number }) => seq === 2)),
      );
      await two.ask('room:leave', { chatNo });
      await one.send(chatNo, 'three');
      await two.join(chatNo, 2);
      await expectFresh(device, asker, room);

      // The writes of a process that ended before it published them.
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

    it('of a read position: the sender sees it, and the reader’s other devices get the new unread count', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const [sender, device] = await Promise.all([
        connect(asker, {}, gateway(1)),
        connect(author, {}, gateway(1)),
      ]);
      await sender.join(chatNo);
      await sender.send(chatNo, 'one');
      await device.next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);
      await database
        .db('adoption')
        .collection<RoomRecord>('rooms')
        .updateOne({ _id: chatNo }, { $set: { 'read.creator': { seq: 1, others: 1 } } });
      await Promise.all([expectRead(sender, author, 1), expectFresh(device, author, room)]);
    });

    it('while Redis was down: also clients outside the room get its latest state', async () => {
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
      await author.join(chatNo);
      const elsewhere = await Promise.all([
        connect(written.author, {}, gateway(1)),
        connect(read.author, {}, gateway(1)),
      ]);
      const readers = await connect(read.asker, {}, gateway(0));
      await readers.send(read.chatNo, 'unread');
      await elsewhere[1].next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);
      await author.send(chatNo, 'before');
      await asker.next<RoomView>('room', ({ unReadCount }) => unReadCount === 1);

      await cluster.redis.kill();
      // Neither the reader's other devices nor the author on the other gateway receive these.
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

    it('of presence: a subscriber that was disconnected publishes the change that it missed', async () => {
      const { author, asker, chatNo } = await cluster.openRoom();
      const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
      await one.join(chatNo);
      await two.join(chatNo);
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
