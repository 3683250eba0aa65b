import type { OpenRooms, Presence, PresenceListener } from './presence.js';

/** How often connections that are no longer in their rooms are removed, ms. */
const PRUNE_EVERY_MS = 6_000;

/** This process's connections by room and member. */
export class LocalConnections {
  /** Room → member → connection → the number of its entry. */
  readonly #rooms = new Map<number, Map<number, Map<string, number>>>();
  #lastEntry = 0;

  /** Number of the latest `enter`; they rise by 1. */
  get lastEntry(): number {
    return this.#lastEntry;
  }

  /** @returns whether it is the member's first connection here */
  enter(chatNo: number, memberNo: number, connection: string): boolean {
    this.#lastEntry += 1;
    const members = this.#rooms.get(chatNo) ?? new Map<number, Map<string, number>>();
    this.#rooms.set(chatNo, members);
    const connections = members.get(memberNo);
    members.set(memberNo, (connections ?? new Map<string, number>()).set(connection, this.#lastEntry));
    return !connections;
  }

  /** @returns whether it was the member's last connection here */
  leave(chatNo: number, memberNo: number, connection: string): boolean {
    const members = this.#rooms.get(chatNo);
    const connections = members?.get(memberNo);
    if (!connections?.delete(connection) || connections.size > 0) return false;
    members?.delete(memberNo);
    if (members?.size === 0) this.#rooms.delete(chatNo);
    return true;
  }

  /** Removes the member's connections up to an entry. @returns them */
  clear(chatNo: number, memberNo: number, upTo = this.#lastEntry): string[] {
    const connections = [...(this.#rooms.get(chatNo)?.get(memberNo) ?? [])];
    const cleared = connections.filter(([, entry]) => entry <= upTo).map(([connection]) => connection);
    for (const connection of cleared) this.leave(chatNo, memberNo, connection);
    return cleared;
  }

  has(chatNo: number, memberNo: number): boolean {
    return this.#rooms.get(chatNo)?.has(memberNo) ?? false;
  }

  members(chatNo: number): number[] {
    return [...(this.#rooms.get(chatNo)?.keys() ?? [])];
  }

  hasRoom(chatNo: number): boolean {
    return this.#rooms.has(chatNo);
  }

  rooms(): number[] {
    return [...this.#rooms.keys()];
  }

  /** Removes connections that are no longer in their rooms. @returns the members whose last one that was */
  prune(isInRoom: (chatNo: number, connection: string) => boolean): [chatNo: number, memberNo: number][] {
    const gone: [number, number][] = [];
    for (const [chatNo, memberNo, connection] of this.#all()) {
      if (isInRoom(chatNo, connection)) continue;
      if (this.leave(chatNo, memberNo, connection)) gone.push([chatNo, memberNo]);
    }
    return gone;
  }

  *#all(): Generator<[chatNo: number, memberNo: number, connection: string]> {
    for (const [chatNo, members] of this.#rooms) {
      for (const [memberNo, connections] of members) {
        for (const connection of connections.keys()) yield [chatNo, memberNo, connection];
      }
    }
  }
}

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
      for (const connection of cleared) openRooms.removeFromRoom(chatNo, connection);
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
