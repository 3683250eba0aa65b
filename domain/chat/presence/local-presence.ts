/** The connections of this process in each room, by member. Everything is answered at once. */
export interface LocalPresence {
  /** The number of the latest `enter`: what was entered later has a higher one. */
  readonly turn: number;
  /** @returns whether it is the member's first connection here */
  enter(chatNo: number, memberNo: number, connection: string): boolean;
  /** @returns whether it was the member's last connection here */
  leave(chatNo: number, memberNo: number, connection: string): boolean;
  /** Forgets the member's connections that entered up to a turn. @returns whether there was one */
  clear(chatNo: number, memberNo: number, upTo?: number): boolean;
  has(chatNo: number, memberNo: number): boolean;
  members(chatNo: number): number[];
  rooms(): Iterable<number>;
}

export function createLocalPresence(): LocalPresence {
  /** Room → member → connection → the turn in which it entered. */
  const rooms = new Map<number, Map<number, Map<string, number>>>();
  let turn = 0;

  function dropEmpty(chatNo: number, memberNo: number): boolean {
    const members = rooms.get(chatNo);
    if (members?.get(memberNo)?.size !== 0) return false;
    members.delete(memberNo);
    if (members.size === 0) rooms.delete(chatNo);
    return true;
  }

  return {
    get turn() {
      return turn;
    },

    enter(chatNo, memberNo, connection) {
      turn += 1;
      const members = rooms.get(chatNo) ?? new Map<number, Map<string, number>>();
      rooms.set(chatNo, members);
      const connections = members.get(memberNo);
      if (connections) {
        connections.set(connection, turn);
        return false;
      }
      members.set(memberNo, new Map([[connection, turn]]));
      return true;
    },

    leave(chatNo, memberNo, connection) {
      const left = rooms.get(chatNo)?.get(memberNo)?.delete(connection) ?? false;
      return left && dropEmpty(chatNo, memberNo);
    },

    clear(chatNo, memberNo, upTo = turn) {
      const connections = rooms.get(chatNo)?.get(memberNo);
      if (!connections) return false;
      const before = connections.size;
      for (const [connection, entered] of connections) if (entered <= upTo) connections.delete(connection);
      const cleared = connections.size < before;
      dropEmpty(chatNo, memberNo);
      return cleared;
    },

    has: (chatNo, memberNo) => rooms.get(chatNo)?.has(memberNo) ?? false,
    members: (chatNo) => [...(rooms.get(chatNo)?.keys() ?? [])],
    rooms: () => rooms.keys(),
  };
}
