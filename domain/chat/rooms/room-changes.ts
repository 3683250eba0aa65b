import type { Adoption } from '../../adoption/index.js';
import type { Live } from '../../kernel/live.js';
import type { MemberDirectory } from '../../members/index.js';
import type { Logger } from '../../platform/logger.js';
import type { Side } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { other, type RoomStates, versionOf } from './room-states.js';

/** At most one `room` event per room and member in this many ms. (contract, section 5) */
const QUIET_MS = 250;

/**
 * Longest time, in ms, a change waits after the last event. Between the two the next change takes it
 * along: in a busy room the event then leaves with a message, in one system call with it, instead of by
 * itself. (docs/performance.md)
 */
const LATEST_MS = 500;

export const BOTH: readonly Side[] = ['creator', 'joiner'];

/** Tells participants that their room list has changed: the first change at once, the latest always. */
export interface RoomChanges {
  /** @param sides those whose view of the room has changed */
  touch(chatNo: number, sides: readonly Side[]): void;
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

export function createRoomChanges(
  states: RoomStates,
  directory: MemberDirectory,
  adoption: Adoption,
  live: Live,
  logger: Logger,
  shared: boolean,
): RoomChanges {
  const told: Record<Side, Map<number, Told>> = { creator: new Map(), joiner: new Map() };
  let closed = false;

  async function tell(chatNo: number, sides: readonly Side[]): Promise<void> {
    // What is told is state, and the latest has to be right: with others writing, only the database knows.
    const state = await (shared ? states.load(chatNo) : states.get(chatNo));
    const [people, sale] = await Promise.all([
      directory.lookUp(sides.map((side) => state[other(side)])),
      adoption.findPost(state.saleNo),
    ]);
    for (const side of sides) {
      const view = presentRoom(state, side, people.get(state[other(side)]), sale?.title ?? '');
      live.room(state[side], view, versionOf(state));
    }
  }

  function tellNow(chatNo: number, sides: readonly Side[]): void {
    tell(chatNo, sides).catch((error) => logger.warn({ err: error, chatNo }, 'a room event was not sent'));
  }

  /** The wait is over: what has changed meanwhile is told, and else the member is forgotten. */
  function settle(chatNo: number, side: Side): void {
    const last = told[side].get(chatNo);
    if (!last?.changed || closed) {
      told[side].delete(chatNo);
      return;
    }
    last.at = performance.now();
    last.changed = false;
    last.timer.refresh();
    tellNow(chatNo, [side]);
  }

  /** @returns whether the member may be told now; the change is noted otherwise */
  function mayTell(chatNo: number, side: Side, now: number): boolean {
    const last = told[side].get(chatNo);
    if (!last) {
      const timer = setTimeout(settle, LATEST_MS, chatNo, side);
      timer.unref();
      told[side].set(chatNo, { at: now, changed: false, timer });
      return true;
    }
    last.changed = now - last.at < QUIET_MS;
    if (last.changed) return false;
    last.at = now;
    last.timer.refresh();
    return true;
  }

  return {
    touch(chatNo, sides) {
      if (closed) return;
      const now = performance.now();
      const due = sides.filter((side) => mayTell(chatNo, side, now));
      if (due.length > 0) tellNow(chatNo, due);
    },
    close() {
      closed = true;
      for (const side of BOTH) {
        for (const { timer } of told[side].values()) clearTimeout(timer);
        told[side].clear();
      }
    },
  };
}
