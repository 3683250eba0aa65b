import { createLocalPresence } from './local-presence.js';
import type { Presence } from './presence.js';

/** Presence of one process: when it ends, so do all its connections. */
export function createMemoryPresence(): Presence {
  const local = createLocalPresence();
  return {
    enter: async (chatNo, memberNo, connection) => local.enter(chatNo, memberNo, connection),
    leave: async (chatNo, memberNo, connection) => local.leave(chatNo, memberNo, connection),
    clear: async (chatNo, memberNo) => local.clear(chatNo, memberNo),
    isPresent: async (chatNo, memberNo) => local.has(chatNo, memberNo),
    isHere: local.has,
    list: async (chatNo) => local.members(chatNo).sort((a, b) => a - b),
    watch() {},
    async close() {},
  };
}
