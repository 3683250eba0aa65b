import { AppError } from '../kernel/errors.js';
import type { MessagePayload, ReadPosition, RoomHead, RoomMark } from '../kernel/live.js';
import { createCache } from '../platform/cache.js';
import { createGroupedReads, WHOLE_GROUP } from '../platform/grouped-reads.js';
import { aggregateRecords, readRecords } from '../platform/mongo/records.js';
import { Message, type MessageRecord } from './message.model.js';
import { other, type Position, Room, type RoomRecord, type Side } from './room.model.js';

/** A room as of its newest message: all that sending, reading and listing need to know of it. */
export interface RoomState {
  readonly chatNo: number;
  readonly saleNo: number;
  readonly creator: number;
  readonly joiner: number;
  readonly createdAt: Date;
  /** Number of the newest message; 0 in an empty room. */
  seq: number;
  /** How many messages each side has sent. */
  sent: Record<Side, number>;
  /** Effective read positions: the larger of the room's pointer and what the newest message says. */
  read: Record<Side, Position>;
  latest?: { content: string; contentType: string; sentAt: Date };
}

function larger(a: Position, b: Position | undefined): Position {
  return b && b.seq > a.seq ? { seq: b.seq, others: b.others } : { seq: a.seq, others: a.others };
}

/** A room's state from its two records. */
export function stateOf(room: RoomRecord, head: MessageRecord | undefined): RoomState {
  return {
    chatNo: room._id,
    saleNo: room.saleNo,
    creator: room.creator,
    joiner: room.joiner,
    createdAt: room.createdAt,
    seq: head?.seq ?? 0,
    sent: head ? { creator: head.sent.creator, joiner: head.sent.joiner } : { creator: 0, joiner: 0 },
    read: {
      creator: larger(room.read.creator, head?.read.creator),
      joiner: larger(room.read.joiner, head?.read.joiner),
    },
    ...(head
      ? { latest: { content: head.content, contentType: head.contentType, sentAt: head.sentAt } }
      : {}),
  };
}

/** How far the room is as this side sees it. */
export function markOf({ seq, read }: RoomState, side: Side): RoomMark {
  return { seq, read: read[side].others };
}

/** The numbers of a room. */
export function headOf(state: RoomState): RoomHead {
  const { chatNo, seq, creator, joiner, read } = state;
  return {
    chatNo,
    seq,
    reads: [
      { memberNo: creator, ...read.creator },
      { memberNo: joiner, ...read.joiner },
    ],
  };
}

/** Messages of the other party that this side has not read. */
export function unreadOf(state: RoomState, side: Side): number {
  return state.sent[other(side)] - state.read[side].others;
}

/**
 * The states this process works with. Their numbers only rise, so what is sent, heard and read here is merged
 * number by number, in whatever order it comes. A state in memory can be behind what another process wrote:
 * `seq` is then corrected by the unique index that refuses the next insert, and whoever answers a read asks
 * with `load`. Of a room whose pushes this process hears it is current, up to what is on its way or was lost.
 */
export interface RoomStates {
  /** The state in memory, else from the database. @throws AppError CHAT_ROOM_NOT_FOUND */
  get(chatNo: number): Promise<RoomState>;
  /** The state from the database. @throws AppError CHAT_ROOM_NOT_FOUND */
  load(chatNo: number): Promise<RoomState>;
  /** What is in memory, which may be nothing. */
  peek(chatNo: number): RoomState | undefined;
  /** Takes in a message that another process has written. */
  advance(payload: MessagePayload): void;
  /** Takes in a read position that another process has written. */
  advanceRead(chatNo: number, position: ReadPosition): void;
  /** Forgets what is in memory, after a write whose outcome says it is behind. */
  forget(chatNo: number): void;
}

/**
 * The rooms that match, each with its newest message, if it has one: two index look-ups a room.
 * @param options of the driver's aggregate
 * @param fields what is wanted of the message, all of it unless said
 */
export function readWithHeads(
  match: object,
  options?: { batchSize: number },
  fields?: Record<string, 1>,
): Promise<(RoomRecord & { head: MessageRecord[] })[]> {
  const stages = [
    { $match: match },
    {
      $lookup: {
        from: Message.collection.name,
        localField: '_id',
        foreignField: 'chatNo',
        pipeline: [{ $sort: { seq: -1 } }, { $limit: 1 }, ...(fields ? [{ $project: fields }] : [])],
        as: 'head',
      },
    },
  ];
  return aggregateRecords<RoomRecord & { head: MessageRecord[] }>(Room, stages, options);
}

/** Reads the states of rooms from the database; rooms that do not exist are left out. */
export type ReadStates = (chatNos: number[]) => Promise<Map<number, RoomState>>;

async function readStates(chatNos: number[]): Promise<Map<number, RoomState>> {
  if (chatNos.length === 1) {
    const [only] = chatNos as [number];
    const [[room], [head]] = await Promise.all([
      readRecords<RoomRecord>(Room, { _id: only }, { limit: 1 }),
      readRecords<MessageRecord>(Message, { chatNo: only }, { sort: { seq: -1 }, limit: 1 }),
    ]);
    return new Map(room ? [[only, stateOf(room, head)]] : []);
  }
  const rooms = await readWithHeads({ _id: { $in: chatNos } }, WHOLE_GROUP);
  return new Map(rooms.map(({ head, ...room }) => [room._id, stateOf(room, head[0])]));
}

/** Most rooms held in memory; one takes some 600 bytes. */
const MAX_STATES = 50_000;

/** @param read where states come from, the database unless a test says otherwise */
export function createRoomStates(read: ReadStates = readStates): RoomStates {
  const states = createCache<number, RoomState>(MAX_STATES);

  const readState = createGroupedReads(read);

  async function load(chatNo: number): Promise<RoomState> {
    const found = await readState(chatNo);
    if (!found) throw new AppError('CHAT_ROOM_NOT_FOUND', `chat room ${chatNo} does not exist`);
    // Callers who asked together share what was read, and each state in memory is changed in place.
    return keepNewer({ ...found, read: { ...found.read } });
  }

  /** What was read may be older by now than what a send has put in memory meanwhile. */
  function keepNewer(loaded: RoomState): RoomState {
    const known = states.get(loaded.chatNo);
    const [newer, older] = known && known.seq >= loaded.seq ? [known, loaded] : [loaded, known];
    newer.read.creator = larger(newer.read.creator, older?.read.creator);
    newer.read.joiner = larger(newer.read.joiner, older?.read.joiner);
    states.set(newer.chatNo, newer);
    return newer;
  }

  return {
    load,
    async get(chatNo) {
      return states.get(chatNo) ?? load(chatNo);
    },
    peek: (chatNo) => states.peek(chatNo),
    advance({ chatNo, seq, senderNo, readCount, content, contentType, sendTime }) {
      const state = states.get(chatNo);
      if (!state || seq <= state.seq) return;
      // Only the next message follows from what is known; behind a gap the database knows more.
      if (seq > state.seq + 1) {
        states.delete(chatNo);
        return;
      }
      const sender: Side = senderNo === state.creator ? 'creator' : 'joiner';
      state.seq = seq;
      state.sent = { ...state.sent, [sender]: state.sent[sender] + 1 };
      if (readCount === 0) {
        const recipient = other(sender);
        // A position that was heard before this message may be ahead of it.
        state.read[recipient] = larger(state.read[recipient], { seq, others: state.sent[sender] });
      }
      state.latest = { content, contentType, sentAt: new Date(sendTime) };
    },
    advanceRead(chatNo, { memberNo, ...position }) {
      const state = states.get(chatNo);
      if (!state) return;
      const side: Side = memberNo === state.creator ? 'creator' : 'joiner';
      state.read[side] = larger(state.read[side], position);
    },
    forget(chatNo) {
      states.delete(chatNo);
    },
  };
}
