import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Domain } from '../../domain/domain.js';
import type { MessagePayload, RoomHead, RoomView } from '../../domain/kernel/live.js';
import { chatRoom, memberRoom } from '../../domain/kernel/socket-rooms.js';
import { metrics } from '../../domain/platform/metrics.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { followRooms } from '../../gateway/follow-rooms.js';
import type { GatewayServer } from '../../gateway/socket.js';
import { settled } from './sequenced-room.js';

const CHAT = 7;
const MEMBER = 3;

/** A gateway without a network, with a socket of a member in a chat room, and what it asks the chat. */
async function follow({ alone = false } = {}) {
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
  let follows = (_chatNo: number): boolean => false;
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
    setFollowed(given: typeof follows) {
      follows = given;
    },
  };
  const io = { of: () => ({ adapter }), local: { to: (room: string) => toRoom(room) } };
  const followed = followRooms(
    { chat } as unknown as Domain,
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
    follows: (chatNo: number) => follows(chatNo),
    store() {
      head.seq += 1;
      const message = { id: `m${head.seq}`, chatNo: CHAT, seq: head.seq, senderNo: 1, readCount: 1 };
      stored.push(message as MessagePayload);
      return message;
    },
  };
}

const gapsFilled = async () => (await metrics.gapsFilled.get()).values[0]?.value ?? 0;

describe('the rooms that a gateway follows', () => {
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

  it('are compared with the database every five seconds', async () => {
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

  it('are compared once a minute by a process that is alone', async () => {
    gateway = await follow({ alone: true });
    await pass(59_999);
    expect(gateway.asked).to.deep.equal([]);
    await pass(1);
    expect(gateway.asked).to.deep.equal(['rooms 7']);
  });

  it('are compared, and those of all members here, when Redis is back', async () => {
    gateway = await follow();
    gateway.redisEvents.emit('up');
    await settled();
    expect(gateway.asked).to.deep.equal(['rooms 7', 'rooms of 3']);
    await pass(5_000);
    expect(gateway.asked.slice(2), 'once').to.deep.equal(['rooms 7']);
    gateway.comparer.stop();
    expect(gateway.redisEvents.listenerCount('up')).to.equal(0);
  });

  it('are compared again where the database did not answer', async () => {
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

  it('are compared one time after another, however long one takes', async () => {
    gateway = await follow();
    let answer = () => {};
    gateway.answers.heads = () =>
      new Promise((resolve) => {
        answer = () => resolve([]);
      });
    await pass(5_000);
    await pass(5_000);
    gateway.redisEvents.emit('up');
    expect(gateway.asked).to.deep.equal(['rooms 7']);
    answer();
    await settled();
    expect(gateway.asked, 'what was due meanwhile').to.deep.equal(['rooms 7', 'rooms of 3']);
  });

  it('are not compared any more once that was ended', async () => {
    gateway = await follow();
    let answer = () => {};
    gateway.answers.heads = () =>
      new Promise((resolve) => {
        answer = () => resolve([]);
      });
    gateway.redisEvents.emit('up');
    gateway.comparer.stop();
    answer();
    await settled();
    expect(gateway.asked).to.deep.equal(['rooms 7']);
  });

  it('are told what was lost: messages, read positions and their states, and the chat of it', async () => {
    gateway = await follow();
    const before = await gapsFilled();
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
    expect(await gapsFilled()).to.equal(before + 1);
  });

  it('are told what a newcomer has read, but for the newcomer', async () => {
    gateway = await follow();
    const message = gateway.store();
    await gateway.sequencer.enter(CHAT, 'newcomer', async () => ({ seq: 1 }));
    expect(gateway.sent).to.deep.equal([[chatRoom(CHAT), 'message', message, 'newcomer']]);
  });

  it('are let go of with the last socket in them, and members with their last one', async () => {
    gateway = await follow();
    expect(gateway.follows(CHAT)).to.equal(true);
    for (const room of ['socket', chatRoom(CHAT + 1)]) gateway.adapter.emit('delete-room', room);
    expect(gateway.follows(CHAT), 'another room').to.equal(true);
    gateway.rooms.delete(chatRoom(CHAT));
    gateway.adapter.emit('delete-room', chatRoom(CHAT));
    expect(gateway.follows(CHAT)).to.equal(false);
    await pass(5_000);
    expect(gateway.asked).to.deep.equal([]);

    const told: number[] = [];
    const offer = (seq: number) => gateway.views.offer(MEMBER, CHAT, { seq, read: 0 }, () => told.push(seq));
    offer(1);
    expect(told, 'from what they came in with').to.deep.equal([1]);
    gateway.adapter.emit('delete-room', memberRoom(MEMBER));
    offer(2);
    expect(told, 'it is not known any more what they were told').to.deep.equal([1]);
  });

  it('keep nothing of a room that is entered by nobody after all', async () => {
    gateway = await follow();
    await gateway.sequencer.enter(CHAT + 1, 'socket', async () => ({ seq: 0 }));
    await settled();
    expect(gateway.follows(CHAT + 1)).to.equal(false);
  });
});
