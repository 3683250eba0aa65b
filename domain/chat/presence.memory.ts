import { createLocalPresence } from './local-presence.js';
import type { OpenRooms, Presence, PresenceListener } from './presence.js';

/** How often, in ms, it is confirmed that connections are still in their rooms. */
const CONFIRM_EVERY_MS = 6_000;

/** Presence of one process: when it ends, so do all its connections. */
export function createMemoryPresence(openRooms: OpenRooms, confirmEvery = CONFIRM_EVERY_MS): Presence {
  const local = createLocalPresence();
  let version = 0;
  const listeners: PresenceListener[] = [];

  function tell(chatNo: number, memberNo: number, present: boolean): void {
    version += 1;
    for (const listener of listeners) listener(chatNo, memberNo, present, version);
  }

  const timer = setInterval(() => {
    for (const [chatNo, memberNo] of local.confirm(openRooms.isInRoom)) tell(chatNo, memberNo, false);
  }, confirmEvery);
  timer.unref();

  return {
    async enter(chatNo, memberNo, connection) {
      if (!openRooms.isInRoom(chatNo, connection)) return;
      if (local.enter(chatNo, memberNo, connection)) tell(chatNo, memberNo, true);
    },
    async leave(chatNo, memberNo, connection) {
      if (local.leave(chatNo, memberNo, connection)) tell(chatNo, memberNo, false);
    },
    async clear(chatNo, memberNo) {
      const cleared = local.clear(chatNo, memberNo);
      for (const connection of cleared) openRooms.takeOut(chatNo, connection);
      if (cleared.length > 0) tell(chatNo, memberNo, false);
    },
    isPresent: async (chatNo, memberNo) => local.has(chatNo, memberNo),
    isHere: local.has,
    list: async (chatNo) => local.members(chatNo).sort((a, b) => a - b),
    watch: (listener) => void listeners.push(listener),
    // Whoever is alone hears every change, in order.
    heard: () => true,
    async close() {
      clearInterval(timer);
    },
  };
}
