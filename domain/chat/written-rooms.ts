import type { RoomHead } from '../kernel/live.js';
import type { Ledger } from './ledger.js';
import type { RoomChanges } from './room-changes.js';
import { headOf, type RoomStates } from './room-states.js';
import type { createUncertainRooms } from './uncertain-rooms.js';

/** Time after which a write that the database has not answered may have been applied long ago, ms. */
const SLOW_MS = 2_000;

/** Rooms of slow or uncertain writes are named at most so often, ms: gateways read them each time. */
const UNSURE_EVERY_MS = 5_000;

interface WrittenRoomsDeps {
  states: Pick<RoomStates, 'peek'>;
  changes: Pick<RoomChanges, 'changedSince'>;
  ledger: Pick<Ledger, 'slowRooms'>;
  uncertain: Pick<ReturnType<typeof createUncertainRooms>, 'unsure'>;
}

/** Tells which rooms this process has written to, for its reports (platform/redis/reports.ts). */
export function createWrittenRooms({ states, changes, ledger, uncertain }: WrittenRoomsDeps) {
  let unsureAt = Number.NEGATIVE_INFINITY;

  /**
   * @param since by performance.now()
   * @returns the numbers of the rooms written to since then; those whose numbers only the database knows
   */
  return function writtenSince(since: number): { rooms: RoomHead[]; unsure: number[] } {
    const rooms: RoomHead[] = [];
    const unsure = new Set<number>();
    for (const chatNo of changes.changedSince(since)) {
      const state = states.peek(chatNo);
      if (state) rooms.push(headOf(state));
      else unsure.add(chatNo);
    }
    const now = performance.now();
    if (now - unsureAt >= UNSURE_EVERY_MS) {
      const unanswered = [...ledger.slowRooms(SLOW_MS), ...uncertain.unsure()];
      if (unanswered.length > 0) unsureAt = now;
      for (const chatNo of unanswered) unsure.add(chatNo);
    }
    return { rooms, unsure: [...unsure] };
  };
}
