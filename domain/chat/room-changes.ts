import type { Adoption } from '../adoption/index.js';
import type { Live } from '../kernel/live.js';
import type { MemberDirectory } from '../members/index.js';
import { createCache } from '../platform/cache.js';
import { toAppError } from '../platform/failures.js';
import type { Logger } from '../platform/logger.js';
import { BOTH_SIDES, type Side } from './room.model.js';
import { presentTo } from './room.presenter.js';
import type { RoomStates } from './room-states.js';

/** Shortest interval between two `room` events of one room to one member, ms. (contract, section 5) */
const MIN_INTERVAL_MS = 250;

/**
 * Longest time from an event to the next one that holds a change made meanwhile, ms. From MIN_INTERVAL_MS on,
 * the next change includes it: in a busy room the event then leaves in one system call with a message.
 * (docs/performance.md)
 */
const MAX_INTERVAL_MS = 500;

/** Delay before an event is retried while the database is unavailable, ms. */
const RETRY_AFTER_MS = 1_000;

/** Most rooms whose latest change is remembered for `resendSince`. */
const MAX_REMEMBERED = 50_000;

/** Rooms that `resendSince` sends at once. */
const RESEND_BATCH = 500;

/** The latest `room` event of one room to one member. */
interface LastEvent {
  /** When it was sent, by performance.now(). */
  at: number;
  /** Whether the room has changed since. */
  changed: boolean;
  timer: NodeJS.Timeout;
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
  readonly #isCurrent: (chatNo: number) => boolean;
  readonly #lastEvents: Record<Side, Map<number, LastEvent>> = { creator: new Map(), joiner: new Map() };
  /** When each room last changed, by performance.now(). */
  readonly #changedAt = createCache<number, number>(MAX_REMEMBERED);
  #closed = false;

  /** @param isCurrent whether this process's copy of a room's state includes all processes' writes */
  constructor(deps: RoomChangesDeps, isCurrent: (chatNo: number) => boolean) {
    this.#deps = deps;
    this.#isCurrent = isCurrent;
  }

  /** @param sides those whose view of the room has changed */
  touch(chatNo: number, sides: readonly Side[]): void {
    if (this.#closed) return;
    const now = performance.now();
    if (this.#deps.shared) this.#changedAt.set(chatNo, now);
    const due = sides.filter((side) => this.#isDue(chatNo, side, now));
    if (due.length > 0) void this.#send(chatNo, due);
  }

  /** Sends again the rooms that have changed since then (performance.now()), in case events were lost. */
  async resendSince(since: number): Promise<void> {
    const chatNos = [...this.#changedAt.entries()].filter(([, at]) => at >= since).map(([chatNo]) => chatNo);
    for (let i = 0; i < chatNos.length && !this.#closed; i += RESEND_BATCH) {
      const batch = chatNos.slice(i, i + RESEND_BATCH);
      await Promise.all(batch.map((chatNo) => this.#send(chatNo, BOTH_SIDES)));
    }
  }

  /** Drops events that wait for their interval: the room list shows what they would have sent. */
  close(): void {
    this.#closed = true;
    for (const side of BOTH_SIDES) {
      for (const { timer } of this.#lastEvents[side].values()) clearTimeout(timer);
    }
  }

  /** @returns whether the event may be sent now; otherwise the next event includes the change */
  #isDue(chatNo: number, side: Side, now: number): boolean {
    const last = this.#lastEvents[side].get(chatNo);
    if (!last) {
      const timer = setTimeout(() => this.#endInterval(chatNo, side), MAX_INTERVAL_MS);
      this.#lastEvents[side].set(chatNo, { at: now, changed: false, timer });
      return true;
    }
    last.changed = now - last.at < MIN_INTERVAL_MS;
    if (last.changed) return false;
    last.at = now;
    last.timer.refresh();
    return true;
  }

  #endInterval(chatNo: number, side: Side): void {
    const last = this.#lastEvents[side].get(chatNo);
    if (!last?.changed) {
      this.#lastEvents[side].delete(chatNo);
      return;
    }
    last.at = performance.now();
    last.changed = false;
    last.timer.refresh();
    void this.#send(chatNo, [side]);
  }

  async #send(chatNo: number, sides: readonly Side[]): Promise<void> {
    const { states, live, logger } = this.#deps;
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
    }
  }
}
