import { AppError } from '../kernel/errors.js';
import { newMessageId } from '../kernel/ids.js';
import type { MessagePayload, ReadPosition, RoomHead, RoomMark } from '../kernel/live.js';
import { createCache } from '../platform/async/cache.js';
import { createGroupedReads } from '../platform/async/grouped-reads.js';
import { joinRunningOf } from '../platform/async/shared-runs.js';
import { nextActivity } from '../platform/mongo/data-clock.js';
import { type ContentType, type MessageRecord, readRoomsByNumber } from './message.model.js';
import { other, type Position, type RoomRecord, type Side } from './room.model.js';

/** A room as of its newest message: what sending, reading and listing need. */
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
  /** Read positions: the larger ones of the room and of its newest message. */
  read: Record<Side, Position>;
  latest?: { content: string; contentType: string; sentAt: Date };
}

/** What a room's next message follows from. */
export type RoomNumbers = Pick<RoomState, 'seq' | 'sent' | 'read'>;

/** What is sent. */
export interface NewMessage {
  side: Side;
  contentType: ContentType;
  content: string;
  /** Client key: the same key again is the same message. */
  clientKey?: string;
}

/**
 * The record of a room's next message.
 * @param last what it follows from
 * @param sentAt epoch ms
 */
export function nextRecord(
  state: RoomState,
  last: RoomNumbers,
  { side, contentType, content, clientKey }: NewMessage,
  recipientPresent: boolean,
  sentAt: number,
): MessageRecord {
  const seq = last.seq + 1;
  const sent = { creator: last.sent.creator, joiner: last.sent.joiner };
  sent[side] += 1;
  const read = { creator: last.read.creator, joiner: last.read.joiner };
  if (recipientPresent) read[other(side)] = { seq, others: sent[side] };
  const record: MessageRecord = {
    _id: newMessageId(),
    chatNo: state.chatNo,
    seq,
    senderNo: state[side],
    contentType,
    content,
    sentAt: new Date(sentAt),
    activity: nextActivity(),
    sent,
    read,
  };
  if (clientKey !== undefined) record.clientKey = clientKey;
  if (!recipientPresent) record.unannounced = true;
  return record;
}

function larger(a: Position, b: Position | undefined): Position {
  return b && b.seq > a.seq ? { seq: b.seq, others: b.others } : { seq: a.seq, others: a.others };
}

/** A room's state from the room and its newest message. */
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

/**
 * Makes a stored record the newest of its room, unless its insert was answered so late that another process has published
 * the record, and perhaps what follows it.
 */
export function addToState(state: RoomState, record: MessageRecord, recipient: Side): void {
  if (record.read[recipient].seq > state.read[recipient].seq) state.read[recipient] = record.read[recipient];
  if (record.seq <= state.seq) return;
  state.seq = record.seq;
  state.sent = record.sent;
  state.latest = { content: record.content, contentType: record.contentType, sentAt: record.sentAt };
}

/** The version of the room as this side sees it. */
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

/** Number of messages of the other party that this side has not read. */
export function unreadOf(state: RoomState, side: Side): number {
  return state.sent[other(side)] - state.read[side].others;
}

/** Reads states of rooms; those that do not exist are left out. */
type ReadStates = (chatNos: number[]) => Promise<Map<number, RoomState>>;

async function readStates(chatNos: number[]): Promise<Map<number, RoomState>> {
  const rooms = await readRoomsByNumber(chatNos);
  return new Map(rooms.map((room) => [room._id, stateOf(room, room.head[0])]));
}

/** Most rooms in memory; one takes some 600 bytes. */
const MAX_STATES = 50_000;

/** A room that is not used for so long, ms, leaves memory: what happens next in it costs a read. */
const UNUSED_MS = 60_000;

/**
 * The rooms in this process's memory. Their numbers only rise, so what is sent, received and read is merged
 * number by number, in any order. A state may lack what another process wrote: the unique index then refuses
 * the next insert, and callers that need the current state use `load`. Of a room whose pushes arrive here it
 * is current, except for pushes that are lost or under way.
 *
 * @param read where states come from
 */
export function createRoomStates(read: ReadStates = readStates) {
  const states = createCache<number, RoomState>(MAX_STATES, UNUSED_MS, 'use');
  const readState = createGroupedReads(read);
  /** Rooms that are being loaded: by how many callers, and what is heard of them meanwhile, which the read may lack. */
  const loading = new Map<number, { loads: number; heard: (() => void)[] }>();

  /** The state from the database. @throws AppError CHAT_ROOM_NOT_FOUND */
  async function load(chatNo: number): Promise<RoomState> {
    const mine = loading.get(chatNo) ?? { loads: 0, heard: [] };
    loading.set(chatNo, mine);
    mine.loads += 1;
    try {
      const found = await readState(chatNo);
      if (!found) throw new AppError('CHAT_ROOM_NOT_FOUND', `chat room ${chatNo} does not exist`);
      // A copy: simultaneous callers share what was read, and states in memory are changed in place.
      const kept = keepNewer({ ...found, read: { ...found.read } });
      // Perhaps not for the first time, which changes nothing.
      for (const apply of mine.heard) apply();
      return states.peek(chatNo) ?? kept;
    } finally {
      mine.loads -= 1;
      if (mine.loads === 0) loading.delete(chatNo);
    }
  }

  /** Applies what is heard of a room, and once more after a load that is under way. */
  function hear(chatNo: number, apply: () => void): void {
    apply();
    loading.get(chatNo)?.heard.push(apply);
  }

  /** Callers go on in the order in which they came: a member's messages are numbered as they were sent. */
  const loadMissing = joinRunningOf(load);

  /** Puts a state into memory unless a newer one is there. */
  function keepNewer(state: RoomState): RoomState {
    const known = states.get(state.chatNo);
    const [newer, older] = known && known.seq >= state.seq ? [known, state] : [state, known];
    newer.read.creator = larger(newer.read.creator, older?.read.creator);
    newer.read.joiner = larger(newer.read.joiner, older?.read.joiner);
    states.set(newer.chatNo, newer);
    return newer;
  }

  function addNext(payload: MessagePayload): void {
    const state = states.get(payload.chatNo);
    if (!state || payload.seq <= state.seq) return;
    // After a gap only the database knows how many messages each side has sent.
    if (payload.seq > state.seq + 1) states.delete(payload.chatNo);
    else addMessage(state, payload);
  }

  function addRead(chatNo: number, { memberNo, ...position }: ReadPosition): void {
    const state = states.get(chatNo);
    if (!state) return;
    const side: Side = memberNo === state.creator ? 'creator' : 'joiner';
    state.read[side] = larger(state.read[side], position);
  }

  return {
    load,
    /** The state in memory, else from the database. @throws AppError CHAT_ROOM_NOT_FOUND */
    get: async (chatNo: number): Promise<RoomState> =>
      loadMissing.running(chatNo) ?? states.get(chatNo) ?? loadMissing(chatNo),
    /**
     * As `get`, for a caller without a token: leaves the memory as it is, which nobody unknown is to fill with rooms
     * that no member uses. undefined if there is no such room: such a caller is not to learn.
     */
    glance: async (chatNo: number): Promise<RoomState | undefined> =>
      states.peek(chatNo) ?? readState(chatNo),
    /** The state in memory, if there is one. */
    peek: (chatNo: number): RoomState | undefined => states.peek(chatNo),
    /**
     * Call after changing a state that was fetched before a write: a `load` during the write may have put another
     * one into memory. A room that is neither in memory nor being loaded stays out.
     */
    merge(state: RoomState): void {
      hear(state.chatNo, () => {
        const known = states.peek(state.chatNo);
        if (known && known !== state) keepNewer(state);
      });
    },
    /** Adds a message that another process has written. */
    advance: (payload: MessagePayload): void => hear(payload.chatNo, () => addNext(payload)),
    /** Applies a read position that another process has written. */
    advanceRead: (chatNo: number, reader: ReadPosition): void => hear(chatNo, () => addRead(chatNo, reader)),
    /** Drops a state that a write has shown to be outdated. */
    forget: (chatNo: number): void => void states.delete(chatNo),
  };
}

export type RoomStates = ReturnType<typeof createRoomStates>;

/** Adds the message that follows the newest one. */
function addMessage(
  state: RoomState,
  { seq, senderNo, readCount, content, contentType, sendTime }: MessagePayload,
): void {
  const sender: Side = senderNo === state.creator ? 'creator' : 'joiner';
  state.seq = seq;
  state.sent = { ...state.sent, [sender]: state.sent[sender] + 1 };
  if (readCount === 0) {
    const recipient = other(sender);
    // A position received before this message may be ahead of it.
    state.read[recipient] = larger(state.read[recipient], { seq, others: state.sent[sender] });
  }
  state.latest = { content, contentType, sentAt: new Date(sendTime) };
}
