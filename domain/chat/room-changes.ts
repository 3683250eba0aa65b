import type { Adoption } from '../adoption/index.js';
import { type Live, ROOM_INTERVAL_MS } from '../kernel/live.js';
import type { MemberDirectory } from '../members/index.js';
import { createCache } from '../platform/async/cache.js';
import type { Logger } from '../platform/observe/logger.js';
import { toAppError } from '../platform/process/failures.js';
import { BOTH_SIDES, type Side } from './room.model.js';
import { presentTo } from './room.presenter.js';
import type { RoomStates } from './room-states.js';

/**
 * Longest time from an event to the next one that holds a change made meanwhile, ms. From ROOM_INTERVAL_MS on,
 * the next change includes it: in a busy room the event then leaves in one system call with a message.
 * (docs/performance.md)
 */
const MAX_INTERVAL_MS = 500;

/** Intervals that end within this time end together, ms: a timer for each would wake the process for each. */
const STEP_MS = 25;

/** Delay before an event is retried while the database is unavailable, ms. */
const RETRY_AFTER_MS = 1_000;

/** Most rooms whose latest change is remembered. */
const MAX_REMEMBERED = 50_000;

/** Rooms that `resendSince` sends at once. */
const RESEND_BATCH = 500;

/** The latest `room` event of one room to one member. */
interface LastEvent {
  /** When it was sent, by performance.now(). */
  at: number;
  /** Whether the room has changed since. */
  changed: boolean;
}

interface RoomChangesDeps {
  /** Whether other processes show the rooms, too: only what is published to them can be lost. */
  shared: boolean;
  states: RoomStates;
  directory: MemberDirectory;
  adoption: Adoption;
  live: Live;
  logger: Logger;
}

/**
 * Sends `room` events to participants whose room list has changed: the first change at once, the latest
 * always. While the database is unavailable, events are retried every second.
 */
export class RoomChanges {
  readonly #deps: RoomChangesDeps;
  /** By room, the oldest first. */
  readonly #lastEvents: Record<Side, Map<number, LastEvent>> = { creator: new Map(), joiner: new Map() };
  /** Ends intervals. Set while there are any. */
  #timer: NodeJS.Timeout | undefined;
  /** When each room last changed, by performance.now(). */
  readonly #changedAt = createCache<number, number>(MAX_REMEMBERED);
  /** Events that are being read and sent. */
  #sending = 0;
  /** Called when there are none; set by close. */
  #onIdle = () => {};
  #closed = false;

  constructor(deps: RoomChangesDeps) {
    this.#deps = deps;
  }

  /** @param sides those whose view of the room has changed */
  touch(chatNo: number, sides: readonly Side[]): void {
    if (this.#closed) return;
    const now = performance.now();
    if (this.#deps.shared) this.#changedAt.set(chatNo, now);
    const due = sides.filter((side) => this.#isDue(chatNo, side, now));
    if (due.length > 0) void this.#send(chatNo, due);
    if (!this.#timer) this.#setTimer(now);
  }

  /**
   * Sends again the rooms that have changed since then (performance.now()), in case events were lost.
   * @param isOver ends it early
   */
  async resendSince(since: number, isOver = () => false): Promise<void> {
    const chatNos = this.changedSince(since);
    for (let i = 0; i < chatNos.length && !this.#closed && !isOver(); i += RESEND_BATCH) {
      const batch = chatNos.slice(i, i + RESEND_BATCH);
      await Promise.all(batch.map((chatNo) => this.#send(chatNo, BOTH_SIDES)));
    }
  }

  /** The rooms that have changed since then (performance.now()). */
  changedSince(since: number): number[] {
    const chatNos: number[] = [];
    // The latest come first.
    for (const [chatNo, at] of this.#changedAt.entries()) {
      if (at < since) break;
      chatNos.push(chatNo);
    }
    return chatNos;
  }

  /**
   * Sends what waits for its interval, and resolves when every event has been sent, or could not be read: other processes have
   * sockets of the members. A single process, which closes its own, drops what waits.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const isWaiting = BOTH_SIDES.some((side) =>
      [...this.#lastEvents[side].values()].some(({ changed }) => changed),
    );
    if (this.#deps.shared && isWaiting) {
      await new Promise((resolve) => setTimeout(resolve, ROOM_INTERVAL_MS));
      this.#sendChanged(performance.now(), Number.POSITIVE_INFINITY);
    }
    if (this.#sending > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
  }

  /** @returns whether the event may be sent now; otherwise the next event includes the change */
  #isDue(chatNo: number, side: Side, now: number): boolean {
    const last = this.#lastEvents[side].get(chatNo);
    if (last && now - last.at < ROOM_INTERVAL_MS) {
      last.changed = true;
      return false;
    }
    this.#begin(chatNo, side, now);
    return true;
  }

  /** An event is being sent. */
  #begin(chatNo: number, side: Side, now: number): void {
    const events = this.#lastEvents[side];
    // Behind all others.
    events.delete(chatNo);
    events.set(chatNo, { at: now, changed: false });
  }

  /** Sets the timer to when the oldest interval ends. */
  #setTimer(now: number): void {
    const oldest = BOTH_SIDES.map((side) => this.#lastEvents[side].values().next().value?.at);
    const [first] = oldest.filter((at) => at !== undefined).sort((a, b) => a - b);
    this.#timer =
      first === undefined ? undefined : setTimeout(() => this.#endIntervals(), first + MAX_INTERVAL_MS - now);
  }

  /** Ends the intervals that are over. */
  #endIntervals(): void {
    const now = performance.now();
    this.#sendChanged(now, now - MAX_INTERVAL_MS + STEP_MS);
    this.#setTimer(now);
  }

  /** Ends the intervals that began until then, and sends events to those for whom a room has changed meanwhile. */
  #sendChanged(now: number, until: number): void {
    const changed = new Map<number, Side[]>();
    for (const side of BOTH_SIDES) {
      for (const [chatNo, last] of this.#lastEvents[side]) {
        if (last.at > until) break;
        if (last.changed) {
          this.#begin(chatNo, side, now);
          changed.set(chatNo, [...(changed.get(chatNo) ?? []), side]);
        } else this.#lastEvents[side].delete(chatNo);
      }
    }
    for (const [chatNo, sides] of changed) void this.#send(chatNo, sides);
  }

  /**
   * Whether memory has the room as all processes have written it, but for pushes under way, which gateways merge. No
   * pushes arrive of rooms that are not open here, so memory may lack a read position, which is not in an event either if
   * its writer was killed.
   */
  #isCurrent(chatNo: number): boolean {
    return !this.#deps.shared || this.#deps.live.connectionsIn(chatNo) > 0;
  }

  async #send(chatNo: number, sides: readonly Side[]): Promise<void> {
    const { states, live, logger } = this.#deps;
    this.#sending += 1;
    try {
      const state = await (this.#isCurrent(chatNo) ? states.get(chatNo) : states.load(chatNo));
      for (const { memberNo, view, mark } of await presentTo(this.#deps, state, sides)) {
        live.room(memberNo, view, mark);
      }
    } catch (error) {
      if (toAppError(error).status !== 503) {
        logger.error({ err: error, chatNo }, 'a room event was not sent');
        return;
      }
      logger.warn({ err: error, chatNo }, 'a room event was not sent; retrying');
      setTimeout(() => this.touch(chatNo, sides), RETRY_AFTER_MS).unref();
    } finally {
      this.#sending -= 1;
      if (this.#sending === 0) this.#onIdle();
    }
  }
}
