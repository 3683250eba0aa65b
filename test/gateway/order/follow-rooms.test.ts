import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Domain } from '../../../domain/domain.js';
import type { MessagePayload, RoomHead, RoomView } from '../../../domain/kernel/live.js';
import { chatRoom, memberRoom } from '../../../domain/kernel/socket-rooms.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import type { RedisConnection } from '../../../domain/platform/redis/connection.js';
import type { GatewayServer } from '../../../gateway/connection/socket.js';
import { followRooms } from '../../../gateway/order/follow-rooms.js';
import { counted } from '../../support/counted.js';
import { gate } from '../../support/eventually.js';
import { FakeReports } from '../../support/reports.js';
import { settled } from './sequenced-room.js';

const CHAT = 7;
const MEMBER = 3;

/** A gateway without a network: a member’s socket is in a chat room; records what the gateway asks the chat. */
async function follow({ alone = false, reports }: { alone?: boolean; reports?: FakeReports } = {}) {
  const rooms = new Map([chatRoom(CHAT), memberRoom(MEMBER)].map((room) => [room, new Set(['socket'])]));
  const sent: unknown[] = [];
  const adapter = Object.assign(new EventEmitter(), { rooms });
  const toRoom = (to: string, except?: string) => ({
    except: (socket: string) => toRoom(to, socket),
    emit: (event: string, payload: unknown) => sent.push([to, event, payload, ...(except ? [except] : [])]),
  });
  const redisEvents = new EventEmitter();
  const redis = {
    on(event: string, listener: () => void) {
      redisEvents.on(event, listener);
      return () => void redisEvents.off(event, listener);
    },
  } as RedisConnection;
  const head: RoomHead = { chatNo: CHAT, seq: 0, reads: [{ memberNo: MEMBER, seq: 0, others: 0 }] };
  const stored: MessagePayload[] = [];
  const asked: string[] = [];
  const heard: string[] = [];
  const answers = { heads: async () => [head], headsOf: async () => [head] };
  const chat = {
    viewRoom: async () => ({ view: { chatNo: CHAT } as RoomView, mark: { seq: head.seq, read: 0 } }),
    headsOf(memberNos: number[]) {
      asked.push(`rooms of ${memberNos}`);
      return answers.headsOf();
    },
    readAfter: async (_chatNo: number, after: number) => stored.filter(({ seq }) => seq > after),
    heads(chatNos: number[]) {
      asked.push(`rooms ${chatNos}`);
      return answers.heads();
    },
    knownHead: () => head,
    noteMessage: ({ seq }: MessagePayload) => heard.push(`message ${seq}`),
    noteRead: (_chatNo: number, { seq }: { seq: number }) => heard.push(`read ${seq}`),
  };
  const io = { of: () => ({ adapter }), local: { to: (room: string) => toRoom(room) } };
  const followed = followRooms(
    { chat, reports } as unknown as Domain,
    io as unknown as GatewayServer,
    { event: (...event) => void sent.push(event) },
    alone ? undefined : redis,
    pino({ level: 'silent' }),
  );
  followed.comparer.start();
  await followed.sequencer.enter(CHAT, 'socket', async () => ({ seq: 0 }));
  await settled();
  return {
    ...{ ...followed, rooms, adapter, sent, head, stored, asked, heard, answers, redisEvents },
    store() {
      head.seq += 1;
      const message = {
        id: `m${head.seq}`,
        chatNo: CHAT,
        seq: head.seq,
        senderNo: 1,
        readCount: 1,
        sendTime: 0,
      };
      stored.push(message as MessagePayload);
      return message;
    },
  };
}

describe('a gateway that follows rooms', () => {
  let gateway: Awaited<ReturnType<typeof follow>>;
  beforeEach(() => mock.timers.enable({ apis: ['setInterval', 'setTimeout'] }));
  afterEach(() => {
    gateway.comparer.stop();
    mock.timers.reset();
  });

  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await settled();
  }

  it('compares them with the database every five seconds', async () => {
    gateway = await follow();
    await pass(4_999);
    expect(gateway.asked).to.deep.equal([]);
    await pass(1);
    expect(gateway.asked).to.deep.equal(['rooms 7']);
    await pass(5_000);
    expect(gateway.asked).to.deep.equal(['rooms 7', 'rooms 7']);
    gateway.comparer.stop();
    await pass(60_000);
    expect(gateway.asked).to.have.length(2);
  });

  it('compares them once if all processes report, and again while one does not', async () => {
    const reports = new FakeReports();
    gateway = await follow({ reports });
    await pass(5_000);
    await pass(55_000);
    expect(gateway.asked).to.deep.equal(['rooms 7']);
    reports.isComplete = false;
    await pass(1_000);
    expect(gateway.asked, 'at once').to.have.length(2);
    await pass(9_000);
    expect(gateway.asked, 'every five seconds').to.have.length(3);
    reports.isComplete = true;
    await pass(60_000);
    expect(gateway.asked).to.have.length(3);
  });

  it('finds lost pushes by the numbers that their writer reports, without reading other rooms', async () => {
    const reports = new FakeReports();
    gateway = await follow({ reports });
    await pass(5_000);
    gateway.asked.length = 0;
    const message = gateway.store();
    const report = (chatNo: number, unsure: number[]) =>
      reports.tell({ rooms: [{ ...gateway.head, chatNo }], unsure });
    report(CHAT, []);
    report(CHAT + 1, [CHAT + 1]);
    await pass(2_000);
    expect(gateway.sent, 'its push may be under way').to.deep.equal([]);
    await pass(2_000);
    expect(gateway.sent).to.deep.include([chatRoom(CHAT), 'message', message]);
    await pass(200);
    gateway.asked.length = 0;
    report(CHAT + 1, [CHAT]);
    await pass(200);
    expect(gateway.asked, 'a room whose numbers its writer does not know').to.deep.equal(['rooms 7']);
    gateway.comparer.stop();
    report(CHAT, [CHAT]);
    await pass(10_000);
    expect(gateway.asked).to.have.length(1);
  });

  it('compares a reported room into which the first socket is still coming', async () => {
    const reports = new FakeReports();
    gateway = await follow({ reports });
    await pass(5_000);
    gateway.asked.length = 0;
    const { opened, open } = gate();
    const entering = gateway.sequencer.enter(CHAT + 1, 'socket', async () => {
      await opened;
      return { seq: 0 };
    });
    reports.tell({ rooms: [{ ...gateway.head, chatNo: CHAT + 1 }] });
    await pass(4_000);
    await pass(200);
    expect(gateway.asked).to.deep.equal([`rooms ${CHAT + 1}`]);
    open();
    await entering;
  });

  it('compares them once a minute if its process is the only one', async () => {
    gateway = await follow({ alone: true });
    await pass(59_999);
    expect(gateway.asked).to.deep.equal([]);
    await pass(1);
    expect(gateway.asked).to.deep.equal(['rooms 7']);
  });

  it('compares them, and all rooms of its members, when Redis is back', async () => {
    gateway = await follow();
    gateway.redisEvents.emit('up');
    await settled();
    expect(gateway.asked).to.deep.equal(['rooms 7', 'rooms of 3']);
    await pass(5_000);
    expect(gateway.asked.slice(2), 'once').to.deep.equal(['rooms 7']);
    gateway.comparer.stop();
    expect(gateway.redisEvents.listenerCount('up')).to.equal(0);
  });

  it('compares with the next comparison all rooms of members to whom pushes were dropped', async () => {
    gateway = await follow();
    for (const memberNo of [4, MEMBER, 4]) gateway.comparer.compareMember(memberNo);
    await settled();
    expect(gateway.asked).to.deep.equal([]);
    gateway.answers.headsOf = () => Promise.reject(new Error('the database is away'));
    await pass(5_000);
    gateway.answers.headsOf = async () => [gateway.head];
    await pass(5_000);
    await pass(5_000);
    const both = ['rooms 7', 'rooms of 4,3'];
    expect(gateway.asked).to.deep.equal([...both, ...both, 'rooms 7']);
  });

  it('repeats a comparison that the database did not answer', async () => {
    gateway = await follow();
    gateway.answers.headsOf = () => Promise.reject(new Error('the database is away'));
    gateway.redisEvents.emit('up');
    await settled();
    await pass(5_000);
    gateway.answers.headsOf = async () => [gateway.head];
    await pass(5_000);
    await pass(5_000);
    const both = ['rooms 7', 'rooms of 3'];
    expect(gateway.asked).to.deep.equal([...both, ...both, ...both, 'rooms 7']);
  });

  it('runs one comparison at a time, however long it takes', async () => {
    gateway = await follow();
    const { open: answer, opened: answered } = gate();
    gateway.answers.heads = () => answered.then(() => []);
    await pass(5_000);
    await pass(5_000);
    gateway.redisEvents.emit('up');
    expect(gateway.asked).to.deep.equal(['rooms 7']);
    answer();
    await settled();
    expect(gateway.asked, 'what was due meanwhile').to.deep.equal(['rooms 7', 'rooms of 3']);
  });

  it('starts no further comparison after it was stopped', async () => {
    gateway = await follow();
    const { open: answer, opened: answered } = gate();
    gateway.answers.heads = () => answered.then(() => []);
    gateway.redisEvents.emit('up');
    gateway.comparer.stop();
    answer();
    await settled();
    expect(gateway.asked).to.deep.equal(['rooms 7']);
  });

  it('delivers lost messages, read positions and room states, and passes them to the chat', async () => {
    gateway = await follow();
    const before = await counted(metrics.gapsFilled);
    const message = gateway.store();
    Object.assign(gateway.head.reads[0] as object, { seq: 1, others: 1 });
    await pass(5_000);
    await settled();
    expect(gateway.sent).to.have.deep.members([
      [memberRoom(MEMBER), 'room', { chatNo: CHAT }],
      [chatRoom(CHAT), 'message', message],
      [chatRoom(CHAT), 'message:read', { chatNo: CHAT, memberNo: MEMBER, seq: 1 }],
    ]);
    expect(gateway.heard).to.deep.equal(['message 1', 'read 1']);
    expect(await counted(metrics.gapsFilled)).to.equal(before + 1);
  });

  it('delivers lost states of the room to the participant who joins second, too', async () => {
    gateway = await follow();
    gateway.head.reads.push({ memberNo: MEMBER + 1, seq: 0, others: 0 });
    gateway.rooms.set(memberRoom(MEMBER + 1), new Set(['second']));
    await gateway.sequencer.enter(CHAT, 'second', async () => ({ seq: 0 }));
    gateway.store();
    await pass(5_000);
    for (const no of [3, 4]) expect(gateway.sent).to.deep.include([memberRoom(no), 'room', { chatNo: CHAT }]);
  });

  it('delivers what a newcomer has read to everyone in the room but the newcomer', async () => {
    gateway = await follow();
    const message = gateway.store();
    await gateway.sequencer.enter(CHAT, 'newcomer', async () => ({ seq: 1 }));
    expect(gateway.sent).to.deep.equal([[chatRoom(CHAT), 'message', message, 'newcomer']]);
  });

  it('forgets a room with the last socket in it, and a member with their last socket', async () => {
    gateway = await follow();
    expect(gateway.sequencer.has(CHAT)).to.equal(true);
    for (const room of ['socket', chatRoom(CHAT + 1)]) gateway.adapter.emit('delete-room', room);
    expect(gateway.sequencer.has(CHAT), 'another room').to.equal(true);
    gateway.rooms.delete(chatRoom(CHAT));
    gateway.adapter.emit('delete-room', chatRoom(CHAT));
    expect(gateway.sequencer.has(CHAT)).to.equal(false);
    await pass(5_000);
    expect(gateway.asked).to.deep.equal([]);

    const told: number[] = [];
    const view = { chatNo: CHAT } as RoomView;
    const offer = (seq: number) => gateway.views.offer(MEMBER, view, { seq, read: 0 }, () => told.push(seq));
    offer(1);
    expect(told, 'newer than at the join').to.deep.equal([1]);
    gateway.adapter.emit('delete-room', memberRoom(MEMBER));
    offer(2);
    expect(told, 'what they were told is forgotten').to.deep.equal([1]);
  });

  it('forgets a room whose only join ends without a socket in the room', async () => {
    gateway = await follow();
    await gateway.sequencer.enter(CHAT + 1, 'socket', async () => ({ seq: 0 }));
    await settled();
    expect(gateway.sequencer.has(CHAT + 1)).to.equal(false);
  });
});
