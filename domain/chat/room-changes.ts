import { createCache } from '../platform/cache.js';
import { toAppError } from '../platform/failures.js';
import type { ChatDeps } from './chat-deps.js';
import type { Side } from './room.model.js';
import { viewsOf } from './view-room.js';

/** At most one `room` event per room and member in this many ms. (contract, section 5) */
const QUIET_MS = 250;

/**
 * Longest time, in ms, a change waits after the last event. Between the two the next change takes it
 * along: in a busy room the event then leaves with a message, in one system call with it, instead of by
 * itself. (docs/performance.md)
 */
const LATEST_MS = 500;

/** Time, in ms, until a room is told of again that could not be. */
const AFTER_FAILURE_MS = 1_000;

/** Most rooms whose latest change is remembered, for `tellAgain`. */
const MAX_RECENT = 50_000;

/** Rooms told of again at once. */
const AGAIN_AT_ONCE = 500;

export const BOTH: readonly Side[] = ['creator', 'joiner'];

/**
 * Tells participants that their room list has changed: the first change at once, the latest always. What could
 * not be told because the database did not answer is told once it does.
 */
export interface RoomChanges {
  /** @param sides those whose view of the room has changed */
  touch(chatNo: number, sides: readonly Side[]): void;
  /** Tells the rooms again that were touched since then (performance.now()): it may not have been heard. */
  tellAgain(since: number): Promise<void>;
  /** Ends the waiting timers; what they would have told is in the room list. */
  close(): void;
}

/** A member who was told of a room lately. */
interface Told {
  /** When, by performance.now(). */
  at: number;
  /** Whether it has changed since. */
  changed: boolean;
  timer: NodeJS.Timeout;
}

/** @param isCurrent whether what this process remembers of a room is what all of them have written to it */
export function createRoomChanges(
  deps: Pick<ChatDeps, 'states' | 'directory' | 'adoption' | 'live' | 'logger'>,
  isCurrent: (chatNo: number) => boolean,
): RoomChanges {
  const { states, live, logger } = deps;
  const told: Record<Side, Map<number, Told>> = { creator: new Map(), joiner: new Map() };
  /** When each room was touched last, by performance.now(). */
  const recent = createCache<number, number>(MAX_RECENT);
  let closed = false;

  async function tell(chatNo: number, sides: readonly Side[]): Promise<void> {
    // Where this process does not hear what others write to the room, only the database knows its state.
    const state = await (isCurrent(chatNo) ? states.get(chatNo) : states.load(chatNo));
    for (const { memberNo, view, mark } of await viewsOf(deps, state, sides)) live.room(memberNo, view, mark);
  }

  async function tellNow(chatNo: number, sides: readonly Side[]): Promise<void> {
    try {
      await tell(chatNo, sides);
    } catch (error) {
      if (toAppError(error).status !== 503) {
        logger.error({ err: error, chatNo }, 'a room event was not sent');
        return;
      }
      logger.warn({ err: error, chatNo }, 'a room event was not sent; it is tried again');
      setTimeout(touch, AFTER_FAILURE_MS, chatNo, sides).unref();
    }
  }

  /** The wait is over: what has changed meanwhile is told, and else the member is forgotten. */
  function settle(chatNo: number, side: Side): void {
    const last = told[side].get(chatNo);
    if (!last?.changed) {
      told[side].delete(chatNo);
      return;
    }
    last.at = performance.now();
    last.changed = false;
    last.timer.refresh();
    void tellNow(chatNo, [side]);
  }

  /** @returns whether the member may be told now; the change is noted otherwise */
  function mayTell(chatNo: number, side: Side, now: number): boolean {
    const last = told[side].get(chatNo);
    if (!last) {
      const timer = setTimeout(settle, LATEST_MS, chatNo, side);
      told[side].set(chatNo, { at: now, changed: false, timer });
      return true;
    }
    last.changed = now - last.at < QUIET_MS;
    if (last.changed) return false;
    last.at = now;
    last.timer.refresh();
    return true;
  }

  function touch(chatNo: number, sides: readonly Side[]): void {
    if (closed) return;
    const now = performance.now();
    recent.set(chatNo, now);
    const due = sides.filter((side) => mayTell(chatNo, side, now));
    if (due.length > 0) void tellNow(chatNo, due);
  }

  return {
    touch,
    async tellAgain(since) {
      const chatNos = [...recent.entries()].filter(([, at]) => at >= since).map(([chatNo]) => chatNo);
      for (let i = 0; i < chatNos.length && !closed; i += AGAIN_AT_ONCE) {
        await Promise.all(chatNos.slice(i, i + AGAIN_AT_ONCE).map((chatNo) => tellNow(chatNo, BOTH)));
      }
    },
    close() {
      closed = true;
      for (const side of BOTH) for (const { timer } of told[side].values()) clearTimeout(timer);
    },
  };
}
