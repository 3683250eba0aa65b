import type { DomainEvents, EventBus } from '../kernel/events.js';
import type { Logger } from '../platform/observe/logger.js';
import { Message, type MessageRecord } from './message.model.js';
import type { Presence } from './presence.js';
import { other, sideOf } from './room.model.js';
import type { RoomState, RoomStates } from './room-states.js';

/** Most messages published at once. */
const MAX_BATCH = 1_000;

/** Most messages that wait in memory; beyond that, all are read back from the database. */
const MAX_QUEUED = 5_000;

/** Longest time `close` waits, ms; the remaining messages keep their marks for the next sweep. */
const CLOSE_TIMEOUT_MS = 3_000;

interface NotifyAbsentDeps {
  events: EventBus;
  states: Pick<RoomStates, 'get' | 'load'>;
  presence: Pick<Presence, 'isPresent'>;
  markRead: (state: RoomState, memberNo: number, seq: number) => Promise<void>;
  logger: Logger;
}

/**
 * Publishes `message.unannounced` for messages whose recipient was absent, in the background and in the order
 * they were sent. Until then the message's record has the mark of that name: after a crash the sweep publishes
 * it again, and listeners are idempotent. If messages come faster than they can be published, those that exceed
 * MAX_QUEUED, and all after them, are read back from the database until none is left.
 */
export class NotifyAbsent {
  readonly #deps: NotifyAbsentDeps;
  readonly #queue: MessageRecord[] = [];
  #running: Promise<void> | undefined;
  #isSweepRequested = false;
  /** Whether new messages wait in the database instead of the queue. */
  #isBehind = false;
  /** Whether one has been left there since the latest read began. */
  #isFurtherBehind = false;
  /** When a stop gives up, by performance.now(). */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(deps: NotifyAbsentDeps) {
    this.#deps = deps;
  }

  /** Messages that wait in memory. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Queues a stored message that is unannounced. */
  enqueue(record: MessageRecord): void {
    if (this.#isClosing) return;
    if (!this.#isBehind && this.#queue.length >= MAX_QUEUED) {
      this.#isBehind = true;
      this.#deps.logger.warn(
        'messages are sent faster than notifications are stored; some wait in the database',
      );
    }
    if (this.#isBehind) this.#isFurtherBehind = true;
    else this.#queue.push(record);
    void this.#start();
  }

  /** Publishes what a crash interrupted. Resolves when all marked messages were tried; never rejects. */
  sweep(): Promise<void> {
    this.#isSweepRequested = true;
    return this.#start();
  }

  /** Resolves when queued messages are published, or left to the next sweep for lack of time. */
  async close(): Promise<void> {
    this.#deadline = performance.now() + CLOSE_TIMEOUT_MS;
    await this.#running;
  }

  get #isClosing(): boolean {
    return this.#deadline !== Number.POSITIVE_INFINITY;
  }

  #start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    // All messages of one turn of the event loop are published together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (performance.now() < this.#deadline) {
      if (this.#queue.length > 0)
        await this.#publish(this.#queue.splice(0, MAX_BATCH), this.#deps.states.get);
      else if (this.#isBehind || this.#isSweepRequested) await this.#publishMarked();
      else break;
    }
    this.#running = undefined;
  }

  /**
   * Publishes all marked messages, oldest first. Some may be in another process's queue at this moment:
   * publishing them twice changes nothing. The states come from the database: another process may have stored the
   * messages, and a third one that they are read.
   */
  async #publishMarked(): Promise<void> {
    const { load } = this.#deps.states;
    this.#isSweepRequested = false;
    this.#isFurtherBehind = false;
    try {
      const marked = Message.find({ unannounced: true }).sort({ activity: 1 }).lean();
      let batch: MessageRecord[] = [];
      for await (const record of marked.cursor({ batchSize: MAX_BATCH })) {
        batch.push(record);
        if (batch.length < MAX_BATCH) continue;
        await this.#publish(batch, load);
        batch = [];
        if (this.#isClosing) break;
      }
      if (batch.length > 0) await this.#publish(batch, load);
      this.#isBehind = this.#isFurtherBehind;
    } catch (error) {
      this.#isBehind = false;
      this.#deps.logger.warn({ err: error }, 'notifications of messages are left to the next sweep');
    }
  }

  /** Publishes messages in order and removes their marks; one that fails keeps its mark. */
  async #publish(records: MessageRecord[], stateOf: RoomStates['get']): Promise<void> {
    const { events, logger } = this.#deps;
    const found = await Promise.allSettled(
      records.map(async (record) => this.#eventOf(record, await stateOf(record.chatNo))),
    );
    // Published only after all look-ups, which may end in any order.
    const outcomes = await Promise.allSettled(
      found.map(async (lookup) => {
        if (lookup.status === 'rejected') throw lookup.reason;
        if (lookup.value) await events.publish('message.unannounced', lookup.value);
      }),
    );
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    const done = records.filter((_, i) => outcomes[i]?.status === 'fulfilled').map(({ _id }) => _id);
    try {
      if (done.length > 0) await Message.updateMany({ _id: { $in: done } }, { $unset: { unannounced: 1 } });
    } catch (error) {
      logger.warn({ err: error }, 'marks of published messages are left to the next sweep');
    }
    if (failed.length > 0) {
      const messageId = records.find((_, i) => outcomes[i]?.status === 'rejected')?._id;
      logger.warn(
        { err: failed[0]?.reason, messages: failed.length, messageId },
        'notifications of messages are left to the next sweep',
      );
    }
  }

  /** @returns undefined if the recipient has read the message in the meantime */
  async #eventOf(
    record: MessageRecord,
    state: RoomState,
  ): Promise<DomainEvents['message.unannounced'] | undefined> {
    const { presence, markRead } = this.#deps;
    const { _id: messageId, chatNo, senderNo, seq, content, contentType } = record;
    const recipient = other(sideOf(state, senderNo) ?? 'creator');
    const recipientNo = state[recipient];
    // A recipient who entered while the message was being written sees it in the room.
    if (await presence.isPresent(chatNo, recipientNo)) await markRead(state, recipientNo, seq);
    if (state.read[recipient].seq >= seq) return undefined;
    return { messageId, chatNo, saleNo: state.saleNo, senderNo, recipientNo, content, contentType };
  }
}
