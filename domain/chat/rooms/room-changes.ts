import type { Adoption } from '../../adoption/index.js';
import type { Live } from '../../kernel/live.js';
import type { MemberDirectory } from '../../members/index.js';
import type { Logger } from '../../platform/logger.js';
import type { Side } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { other, type RoomStates, versionOf } from './room-states.js';

/** At most one `room` event per room and member in this many ms. (contract, section 5) */
const QUIET_MS = 250;

/** Tells participants that their room list has changed: the first change at once, the latest always. */
export interface RoomChanges {
  touch(chatNo: number, side: Side): void;
  /** Ends the waiting timers; what they would have told is in the room list. */
  close(): void;
}

export function createRoomChanges(
  states: RoomStates,
  directory: MemberDirectory,
  adoption: Adoption,
  live: Live,
  logger: Logger,
  shared: boolean,
): RoomChanges {
  /** Rooms that were told of in the last QUIET_MS, and whether they changed since. */
  const quiet = new Map<string, { timer: NodeJS.Timeout; changed: boolean }>();
  let closed = false;

  async function tell(chatNo: number, side: Side): Promise<void> {
    // What is told is state, and the latest has to be right: with others writing, only the database knows.
    const state = await (shared ? states.load(chatNo) : states.get(chatNo));
    const otherNo = state[other(side)];
    const [people, sale] = await Promise.all([directory.lookUp([otherNo]), adoption.findPost(state.saleNo)]);
    const view = presentRoom(state, side, people.get(otherNo), sale?.title ?? '');
    live.room(state[side], view, versionOf(state));
  }

  function emit(chatNo: number, side: Side, key: string): void {
    if (closed) return;
    const timer = setTimeout(() => {
      const waiting = quiet.get(key);
      quiet.delete(key);
      if (waiting?.changed) emit(chatNo, side, key);
    }, QUIET_MS);
    timer.unref();
    quiet.set(key, { timer, changed: false });
    tell(chatNo, side).catch((error) => logger.warn({ err: error, chatNo }, 'a room event was not sent'));
  }

  return {
    touch(chatNo, side) {
      const key = `${chatNo}:${side}`;
      const waiting = quiet.get(key);
      if (waiting) waiting.changed = true;
      else emit(chatNo, side, key);
    },
    close() {
      closed = true;
      for (const { timer } of quiet.values()) clearTimeout(timer);
      quiet.clear();
    },
  };
}
