import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import { newMessageId } from '../../kernel/ids.js';
import { Room, type Side } from '../rooms/room.model.js';
import { other, type RoomState, type RoomStates } from '../rooms/room-states.js';
import { createGroupedInserts } from './grouped-inserts.js';
import { type ContentType, Message, type MessageRecord } from './message.model.js';

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

/** How often a send tries again after other processes were first: each round one of them wins. */
const MAX_ATTEMPTS = 200;

/**
 * Longest time, in ms, a send waits for its turn while nothing is being stored. Sends of a room go one
 * after another, so while the database is away each would wait for every one before it to time out;
 * behind a long queue that moves it waits as long as it takes.
 */
const MAX_WAIT_MS = 3_000;

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
   * @param recipientPresent asked just before the write; a present recipient has read it at once
   * @throws AppError CHAT_ROOM_NOT_FOUND; SERVICE_UNAVAILABLE when its turn comes too late; the driver's
   *   error when the outcome is unknown
   */
  append(
    chatNo: number,
    draft: Draft,
    recipientPresent: () => Promise<boolean>,
    deliver: (appended: Appended) => void,
  ): Promise<Appended>;
  /**
   * Moves a side's read position forward to `seq`, never back and never past the newest message.
   * @returns the new position, or undefined when it was there already
   */
  markRead(state: RoomState, side: Side, seq: number): Promise<number | undefined>;
  /** Resolves when no send is under way any more. */
  idle(): Promise<void>;
}

export function createLedger(clock: Clock, states: RoomStates): Ledger {
  const insert = createGroupedInserts();
  /** The last task of each busy room; a room without one is idle. */
  const tails = new Map<number, Promise<unknown>>();
  /** When a message of any room was last acknowledged by the database. */
  let lastStoredAt = Number.NEGATIVE_INFINITY;

  function exclusively<T>(chatNo: number, task: () => Promise<T>): Promise<T> {
    const before = tails.get(chatNo) ?? Promise.resolve();
    const mine = before.then(task, task);
    tails.set(chatNo, mine);
    const done = () => {
      if (tails.get(chatNo) === mine) tails.delete(chatNo);
    };
    mine.then(done, done);
    return mine;
  }

  function nextRecord(state: RoomState, draft: Draft, recipientPresent: boolean): MessageRecord {
    const { side, contentType, content, clientKey } = draft;
    const recipient = other(side);
    const seq = state.seq + 1;
    const sent = { ...state.sent, [side]: state.sent[side] + 1 };
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
        ...state.read,
        ...(recipientPresent ? { [recipient]: { seq, others: sent[side] } } : {}),
      },
      ...(clientKey === undefined ? {} : { clientKey }),
      ...(recipientPresent ? {} : { unannounced: true as const }),
    };
  }

  async function store(
    chatNo: number,
    draft: Draft,
    recipientPresent: () => Promise<boolean>,
  ): Promise<Appended> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const state = await states.get(chatNo);
      const record = nextRecord(state, draft, await recipientPresent());
      let outcome: Awaited<ReturnType<typeof insert>>;
      try {
        outcome = await insert(record);
      } catch (error) {
        // It may have been applied all the same (a time-out after the write): do not trust memory.
        states.forget(chatNo);
        throw error;
      }
      if (outcome === 'stored') {
        lastStoredAt = performance.now();
        state.seq = record.seq;
        state.sent = record.sent;
        const recipient = other(draft.side);
        if (record.read[recipient].seq > state.read[recipient].seq)
          state.read[recipient] = record.read[recipient];
        state.latest = { content: record.content, contentType: record.contentType, sentAt: record.sentAt };
        return { record, state, repeated: false };
      }
      // One of two unique indexes refused: the client key is this very message again, the number
      // means another process was first.
      const first =
        draft.clientKey === undefined
          ? null
          : await Message.findOne({
              chatNo,
              senderNo: state[draft.side],
              clientKey: draft.clientKey,
            }).lean();
      if (first) return { record: first, state, repeated: true };
      states.forget(chatNo);
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'too many messages are being sent to this room');
  }

  return {
    append(chatNo, draft, recipientPresent, deliver) {
      const turnBy = performance.now() + MAX_WAIT_MS;
      return exclusively(chatNo, async () => {
        if (performance.now() > turnBy && performance.now() - lastStoredAt > MAX_WAIT_MS) {
          throw new AppError('SERVICE_UNAVAILABLE', 'the messages of this room are not being stored in time');
        }
        const appended = await store(chatNo, draft, recipientPresent);
        if (!appended.repeated) deliver(appended);
        return appended;
      });
    },

    async idle() {
      while (tails.size > 0) await Promise.allSettled(tails.values());
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
      const { modifiedCount } = await Room.updateOne(
        { _id: state.chatNo, [`read.${side}.seq`]: { $lt: seq } },
        { $max: { [`read.${side}.seq`]: seq, [`read.${side}.others`]: others } },
      );
      if (seq > state.read[side].seq) state.read[side] = { seq, others };
      return modifiedCount > 0 ? seq : undefined;
    },
  };
}
