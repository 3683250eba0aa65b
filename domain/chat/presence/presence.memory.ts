import type { Presence } from './presence.js';

/** Presence of one process: when it ends, so do all its connections. */
export function createMemoryPresence(): Presence {
  const rooms = new Map<number, Map<number, Set<string>>>();

  function drop(chatNo: number, memberNo: number): void {
    const members = rooms.get(chatNo);
    members?.delete(memberNo);
    if (members?.size === 0) rooms.delete(chatNo);
  }

  return {
    async enter(chatNo, memberNo, connection) {
      const members = rooms.get(chatNo) ?? new Map<number, Set<string>>();
      rooms.set(chatNo, members);
      const connections = members.get(memberNo);
      if (connections) {
        connections.add(connection);
        return false;
      }
      members.set(memberNo, new Set([connection]));
      return true;
    },

    async leave(chatNo, memberNo, connection) {
      const connections = rooms.get(chatNo)?.get(memberNo);
      if (!connections?.delete(connection) || connections.size > 0) return false;
      drop(chatNo, memberNo);
      return true;
    },

    async clear(chatNo, memberNo) {
      const present = rooms.get(chatNo)?.has(memberNo) ?? false;
      drop(chatNo, memberNo);
      return present;
    },

    async isPresent(chatNo, memberNo) {
      return rooms.get(chatNo)?.has(memberNo) ?? false;
    },

    async list(chatNo) {
      return [...(rooms.get(chatNo)?.keys() ?? [])].sort((a, b) => a - b);
    },
  };
}
