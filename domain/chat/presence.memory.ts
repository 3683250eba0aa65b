import { LocalConnections } from './local-connections.js';
import type { OpenRooms, Presence, PresenceListener } from './presence.js';

/** How often connections that are no longer in their rooms are removed, ms. */
const PRUNE_EVERY_MS = 6_000;

/** Presence within one process: when it ends, so do all its connections. */
export function createMemoryPresence(openRooms: OpenRooms, pruneEvery = PRUNE_EVERY_MS): Presence {
  const local = new LocalConnections();
  const listeners: PresenceListener[] = [];
  let version = 0;

  function publish(chatNo: number, memberNo: number, present: boolean): void {
    version += 1;
    for (const listener of listeners) listener(chatNo, memberNo, present, version);
  }

  const timer = setInterval(() => {
    for (const [chatNo, memberNo] of local.prune(openRooms.isInRoom)) publish(chatNo, memberNo, false);
  }, pruneEvery);
  timer.unref();

  return {
    async enter(chatNo, memberNo, connection) {
      if (!openRooms.isInRoom(chatNo, connection)) return;
      if (local.enter(chatNo, memberNo, connection)) publish(chatNo, memberNo, true);
    },
    async leave(chatNo, memberNo, connection) {
      if (local.leave(chatNo, memberNo, connection)) publish(chatNo, memberNo, false);
    },
    async clear(chatNo, memberNo) {
      const cleared = local.clear(chatNo, memberNo);
      for (const connection of cleared) openRooms.takeOut(chatNo, connection);
      if (cleared.length > 0) publish(chatNo, memberNo, false);
    },
    isPresent: async (chatNo, memberNo) => local.has(chatNo, memberNo),
    isHere: (chatNo, memberNo) => local.has(chatNo, memberNo),
    list: async (chatNo) => local.members(chatNo).sort((a, b) => a - b),
    onChange: (listener) => void listeners.push(listener),
    // Within one process all changes arrive, in order.
    accept: () => true,
    async close() {
      clearInterval(timer);
    },
  };
}
