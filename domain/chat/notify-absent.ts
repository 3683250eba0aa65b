import type { DomainEvents, EventBus } from '../kernel/events.js';
import type { Logger } from '../platform/logger.js';
import { Message, type MessageRecord } from './message.model.js';
import { sideOf } from './message.presenter.js';
import type { Presence } from './presence.js';
import type { RoomStates } from './room-states.js';
import { other } from './room-states.js';

/** Most messages announced at a time. */
const MAX_BATCH = 1_000;

/** Most messages that wait in memory to be announced; past them, all are read back from the database. */
const MAX_WAITING = 5_000;

/** Time, in ms, that a stop waits for announcements; what is left keeps its mark for the next sweep. */
const FINISH_MS = 3_000;

type Unseen = DomainEvents['message.unseen'];

/**
 * Announces messages whose recipient was away. That a message still has to be announced is part of
 * its own record, so a crash in between is made good by the sweep; listeners are idempotent.
 *
 * Messages are announced in the order they were sent, and nobody waits for it. When they are sent faster
 * than they can be announced, those that do not fit into memory are read back from the database, and so
 * are all that come after them until none is left.
 */
export interface NotifyAbsent {
  /** Takes on a stored message that is marked as unannounced. Returns at once. */
  announce(record: MessageRecord): void;
  /** Finishes what a crash interrupted. Resolves when all marks were looked at; never rejects. */
  sweep(): Promise<void>;
  /** Resolves when what was taken on is announced, or left to the next sweep for lack of time. */
  close(): Promise<void>;
}

export interface NotifyAbsentDeps {
  events: EventBus;
  states: RoomStates;
  presence: Pick<Presence, 'isPresent'>;
  markRead: (chatNo: number, memberNo: number, seq: number) => Promise<void>;
  logger: Logger;
}

export function createNotifyAbsent(deps: NotifyAbsentDeps): NotifyAbsent {
  const { events, states, presence, markRead, logger } = deps;
  const waiting: MessageRecord[] = [];
  let working: Promise<void> | undefined;
  /** Whether a sweep was asked for. */
  let asked = false;
  /** Whether new messages are left to be read back from the database. */
  let behind = false;
  /** Whether one was left there since reading back began. */
  let left = false;
  /** When, by performance.now(), a stop gives up. */
  let stopAt = Number.POSITIVE_INFINITY;

  /** What is to be announced of a message; nothing when its recipient has read it in the meantime. */
  async function unseen(record: MessageRecord): Promise<Unseen | undefined> {
    const { _id: messageId, chatNo, senderNo, seq, content, contentType } = record;
    const state = await states.get(chatNo);
    const recipient = other(sideOf(state, senderNo) ?? 'creator');
    const recipientNo = state[recipient];
    // They may have come in while the message was being written; then they see it in the room.
    if (await presence.isPresent(chatNo, recipientNo)) await markRead(chatNo, recipientNo, seq);
    if (state.read[recipient].seq >= seq) return undefined;
    return { messageId, chatNo, saleNo: state.saleNo, senderNo, recipientNo, content, contentType };
  }

  /**
   * Announces messages in their order and takes their marks off. One that fails keeps its mark and does not
   * hold up the others.
   */
  async function announceAll(records: MessageRecord[]): Promise<void> {
    const found = await Promise.allSettled(records.map(unseen));
    const outcomes = await Promise.allSettled(
      found.map(async (one) => {
        if (one.status === 'rejected') throw one.reason;
        if (one.value) await events.publish('message.unseen', one.value);
      }),
    );
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    const done = records.filter((_, i) => outcomes[i]?.status === 'fulfilled').map(({ _id }) => _id);
    try {
      // A mark too many costs a sweep a look: the same cause notifies nobody twice.
      if (done.length > 0) await Message.updateMany({ _id: { $in: done } }, { $unset: { unannounced: 1 } });
    } catch (error) {
      logger.warn({ err: error }, 'marks of announced messages stay for the sweep');
    }
    if (failed.length > 0) {
      const messageId = records.find((_, i) => outcomes[i]?.status === 'rejected')?._id;
      logger.warn(
        { err: failed[0]?.reason, messages: failed.length, messageId },
        'messages are left to the next sweep to announce',
      );
    }
  }

  /**
   * Announces all marked messages, oldest first. Those that another process is announcing at this moment
   * are among them: the second time changes nothing.
   */
  async function readBack(): Promise<void> {
    const marked = Message.find({ unannounced: true }).sort({ sentAt: 1 }).lean();
    let batch: MessageRecord[] = [];
    for await (const record of marked.cursor({ batchSize: MAX_BATCH })) {
      batch.push(record);
      if (batch.length < MAX_BATCH) continue;
      await announceAll(batch);
      batch = [];
      if (stopAt !== Number.POSITIVE_INFINITY) return;
    }
    if (batch.length > 0) await announceAll(batch);
  }

  async function catchUp(): Promise<void> {
    asked = false;
    left = false;
    try {
      await readBack();
      behind = left;
    } catch (error) {
      behind = false;
      logger.warn({ err: error }, 'messages are left to the next sweep to announce');
    }
  }

  async function work(): Promise<void> {
    // All messages of one turn of the event loop go together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (performance.now() < stopAt) {
      if (waiting.length > 0) await announceAll(waiting.splice(0, MAX_BATCH));
      else if (behind || asked) await catchUp();
      else break;
    }
    working = undefined;
  }

  function start(): Promise<void> {
    working ??= work();
    return working;
  }

  return {
    announce(record) {
      if (stopAt !== Number.POSITIVE_INFINITY) return;
      if (behind || waiting.length >= MAX_WAITING) {
        if (!behind)
          logger.warn('messages are sent faster than they can be announced; some wait in the database');
        behind = true;
        left = true;
      } else {
        waiting.push(record);
      }
      void start();
    },

    sweep() {
      asked = true;
      return start();
    },

    async close() {
      stopAt = performance.now() + FINISH_MS;
      await working;
    },
  };
}
