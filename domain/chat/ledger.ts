import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newMessageId } from '../kernel/ids.js';
import type { ReadPosition } from '../kernel/live.js';
import { insertInOrder } from '../platform/mongo/inserts.js';
import { createGroupedInserts } from './grouped-inserts.js';
import { type ContentType, Message, type MessageRecord } from './message.model.js';
import type { Presence } from './presence.js';
import { other, Room, type Side } from './room.model.js';
import type { RoomState, RoomStates } from './room-states.js';

export interface Draft {
  side: Side;
  contentType: ContentType;
  content: string;
  /** The sender's own key: the same again is the same message. */
  clientKey?: string;
}

export interface Appended {
  record: MessageRecord;
  /** The room's state with this message in it. */
  state: RoomState;
  /** True when a message with this client key was stored before: nothing new was written. */
  repeated: boolean;
}

/** How often sends try again after other processes were first: each round one of them wins. */
const MAX_ATTEMPTS = 200;

/**
 * Longest time, in ms, a send waits for its turn while the database answers no insert. Sends of a room go
 * one after another, so while it is away each would wait for those before it to time out; behind a long
 * queue that moves it waits as long as it takes.
 */
const MAX_WAIT_MS = 3_000;

/**
 * From how many waiting sends of one room on they are stored by an insert of their own, and how many at
 * most. Fewer go one at a time, but share their insert with other rooms: with thousands of rooms that
 * is cheaper than an insert for each.
 */
const MIN_RUN = 8;
const MAX_RUN = 100;

/**
 * The append-only ledger of messages. Within this process the writes of one room go one after
 * another; between processes the unique index (room, seq) decides who was first and the other one
 * tries the next number.
 */
export interface Ledger {
  /**
   * Stores a message and then, still before the room's next one, calls `deliver`, so that what is
   * delivered leaves this process in `seq` order and is stored already (contract, promise 2).
   *
   * @throws AppError CHAT_ROOM_NOT_FOUND; SERVICE_UNAVAILABLE when its turn comes too late; the driver's
   *   error when the outcome is unknown
   */
  append(chatNo: number, draft: Draft, deliver: (appended: Appended) => void): Promise<Appended>;
  /**
   * Moves a side's read position forward to `seq`, never back and never past the newest message.
   * @returns the new position, or undefined when this process knew it to be there already
   * @throws the driver's error when the outcome is unknown
   */
  markRead(state: RoomState, side: Side, seq: number): Promise<ReadPosition | undefined>;
  /** Resolves when no send is under way any more. */
  idle(): Promise<void>;
}

/** A send on its way. */
interface Send {
  draft: Draft;
  /** When, by performance.now(), its turn is late. */
  turnBy: number;
  deliver(appended: Appended): void;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** A room with sends on their way. */
interface Busy {
  waiting: Send[];
  /** Resolves when there are none any more. */
  done: Promise<void>;
}

/** Counts and positions that the next message follows from. */
type Tally = Pick<RoomState, 'seq' | 'sent' | 'read'>;

/**
 * @param presence asked just before the write: a recipient who is present has read the message at once
 * @param unknown told of a room where a write failed that may be stored all the same, and of the newest number
 *   known before it
 */
export function createLedger(
  clock: Clock,
  states: RoomStates,
  presence: Pick<Presence, 'isPresent'>,
  unknown: (chatNo: number, seq: number) => void,
): Ledger {
  const insertGrouped = createGroupedInserts();
  const busy = new Map<number, Busy>();
  /** When the database last stored messages of any room, or refused them as stored already, by performance.now(). */
  let lastAnsweredAt = Number.NEGATIVE_INFINITY;

  function nextRecord(
    state: RoomState,
    tally: Tally,
    draft: Draft,
    recipientPresent: boolean,
  ): MessageRecord {
    const { side, contentType, content, clientKey } = draft;
    const recipient = other(side);
    const seq = tally.seq + 1;
    const sent = { ...tally.sent, [side]: tally.sent[side] + 1 };
    return {
      _id: newMessageId(),
      chatNo: state.chatNo,
      seq,
      senderNo: state[side],
      contentType,
      content,
      sentAt: new Date(clock.now()),
      sent,
      read: {
        ...tally.read,
        ...(recipientPresent ? { [recipient]: { seq, others: sent[side] } } : {}),
      },
      ...(clientKey === undefined ? {} : { clientKey }),
      ...(recipientPresent ? {} : { unannounced: true as const }),
    };
  }

  /** The records that sends become, each following from the one before. */
  async function nextRecords(state: RoomState, sends: Send[]): Promise<MessageRecord[]> {
    const sides = new Set(sends.map(({ draft }) => draft.side));
    const present = {} as Record<Side, boolean>;
    for (const side of sides) {
      present[other(side)] = await presence.isPresent(state.chatNo, state[other(side)]);
    }
    let tally: Tally = state;
    return sends.map(({ draft }) => {
      const record = nextRecord(state, tally, draft, present[other(draft.side)]);
      tally = record;
      return record;
    });
  }

  /** A record has been stored: it becomes the newest one, is delivered, and its sender learns of it. */
  function stored(state: RoomState, record: MessageRecord, send: Send): void {
    const recipient = other(send.draft.side);
    state.seq = record.seq;
    state.sent = record.sent;
    if (record.read[recipient].seq > state.read[recipient].seq)
      state.read[recipient] = record.read[recipient];
    state.latest = { content: record.content, contentType: record.contentType, sentAt: record.sentAt };
    const appended = { record, state, repeated: false };
    try {
      send.deliver(appended);
      send.resolve(appended);
    } catch (error) {
      send.reject(error);
    }
  }

  /** The message that was stored with this draft's key, if one was. */
  async function repeatedOf(state: RoomState, { side, clientKey }: Draft): Promise<MessageRecord | null> {
    if (clientKey === undefined) return null;
    return Message.findOne({ chatNo: state.chatNo, senderNo: state[side], clientKey }).lean();
  }

  /**
   * Stores sends of one room, in order; taken out of `sends` as soon as they are settled.
   * @throws what the remaining ones failed with
   */
  async function store(chatNo: number, sends: Send[]): Promise<void> {
    for (let failures = 0; failures < MAX_ATTEMPTS && sends.length > 0; ) {
      const state = await states.get(chatNo);
      const records = await nextRecords(state, sends);
      let count: number;
      try {
        const [only] = records;
        if (only && records.length === 1) count = (await insertGrouped(only)) ? 1 : 0;
        else count = await insertInOrder(Message, records);
      } catch (error) {
        // It may have been applied all the same (a time-out after the write): do not trust memory.
        states.forget(chatNo);
        unknown(chatNo, state.seq);
        throw error;
      }
      lastAnsweredAt = performance.now();
      for (const record of records.slice(0, count)) stored(state, record, sends.shift() as Send);
      const [refused] = sends;
      if (!refused) return;
      // One of two unique indexes refused it: the client key is this very message again, the number
      // means another process was first.
      const first = await repeatedOf(state, refused.draft);
      if (first) {
        sends.shift();
        // Another process may have stored it.
        if (first.seq > state.seq) states.forget(chatNo);
        refused.resolve({ record: first, state, repeated: true });
      } else {
        states.forget(chatNo);
        failures = count > 0 ? 1 : failures + 1;
      }
    }
    if (sends.length > 0)
      throw new AppError('SERVICE_UNAVAILABLE', 'too many messages are being sent to this room');
  }

  /** Takes those whose turn has come. */
  function take(waiting: Send[]): Send[] {
    const now = performance.now();
    const count = waiting.length < MIN_RUN ? 1 : MAX_RUN;
    return waiting.splice(0, count).filter((send) => {
      const late = now > send.turnBy && now - lastAnsweredAt > MAX_WAIT_MS;
      if (late) {
        send.reject(new AppError('SERVICE_UNAVAILABLE', 'messages are not being stored in time'));
      }
      return !late;
    });
  }

  /** Sends that arrive in one turn of the event loop go together. */
  let endOfTurn: Promise<void> | undefined;

  function turnEnds(): Promise<void> {
    endOfTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        endOfTurn = undefined;
        resolve();
      });
    });
    return endOfTurn;
  }

  async function work(chatNo: number, waiting: Send[]): Promise<void> {
    await turnEnds();
    while (waiting.length > 0) {
      const sends = take(waiting);
      try {
        await store(chatNo, sends);
      } catch (error) {
        for (const { reject } of sends) reject(error);
      }
    }
    busy.delete(chatNo);
  }

  return {
    append(chatNo, draft, deliver) {
      return new Promise((resolve, reject) => {
        const send = { draft, turnBy: performance.now() + MAX_WAIT_MS, deliver, resolve, reject };
        const room = busy.get(chatNo);
        if (room) {
          room.waiting.push(send);
        } else {
          const waiting = [send];
          busy.set(chatNo, { waiting, done: work(chatNo, waiting) });
        }
      });
    },

    async idle() {
      while (busy.size > 0) await Promise.all([...busy.values()].map(({ done }) => done));
    },

    async markRead(state, side, wanted) {
      const seq = Math.min(wanted, state.seq);
      if (seq <= state.read[side].seq) return undefined;
      let others = state.sent[other(side)];
      if (seq < state.seq) {
        const message = await Message.findOne({ chatNo: state.chatNo, seq }, { sent: 1 }).lean();
        if (!message) return undefined;
        others = message.sent[other(side)];
      }
      try {
        await Room.updateOne(
          { _id: state.chatNo },
          { $max: { [`read.${side}.seq`]: seq, [`read.${side}.others`]: others } },
        );
      } catch (error) {
        unknown(state.chatNo, state.seq);
        throw error;
      }
      if (seq > state.read[side].seq) state.read[side] = { seq, others };
      // Told also where the database had it before us: whoever wrote it may have ended before telling.
      return { memberNo: state[side], seq, others };
    },
  };
}
