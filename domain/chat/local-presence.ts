/** The connections of this process in each room, by member. Everything is answered at once. */
export interface LocalPresence {
  /** The number of the latest `enter`: what was entered later has a higher one. */
  readonly turn: number;
  /** @returns whether it is the member's first connection here */
  enter(chatNo: number, memberNo: number, connection: string): boolean;
  /** @returns whether it was the member's last connection here */
  leave(chatNo: number, memberNo: number, connection: string): boolean;
  /** Forgets the member's connections that entered up to a turn. @returns them */
  clear(chatNo: number, memberNo: number, upTo?: number): string[];
  has(chatNo: number, memberNo: number): boolean;
  members(chatNo: number): number[];
  rooms(): Iterable<number>;
  hasRoom(chatNo: number): boolean;
  /**
   * Forgets the connections that are not in their rooms.
   * @returns those members, with their rooms, who have no connection left
   */
  confirm(isInRoom: (chatNo: number, connection: string) => boolean): [chatNo: number, memberNo: number][];
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

  function leave(chatNo: number, memberNo: number, connection: string): boolean {
    const left = rooms.get(chatNo)?.get(memberNo)?.delete(connection) ?? false;
    return left && dropEmpty(chatNo, memberNo);
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

    leave,

    clear(chatNo, memberNo, upTo = turn) {
      const cleared: string[] = [];
      for (const [connection, entered] of rooms.get(chatNo)?.get(memberNo) ?? []) {
        if (entered <= upTo) cleared.push(connection);
      }
      for (const connection of cleared) leave(chatNo, memberNo, connection);
      return cleared;
    },

    has: (chatNo, memberNo) => rooms.get(chatNo)?.has(memberNo) ?? false,
    members: (chatNo) => [...(rooms.get(chatNo)?.keys() ?? [])],
    rooms: () => rooms.keys(),
    hasRoom: (chatNo) => rooms.has(chatNo),

    confirm(isInRoom) {
      const gone: [number, number][] = [];
      for (const [chatNo, members] of rooms) {
        for (const [memberNo, connections] of members) {
          for (const connection of connections.keys()) {
            if (!isInRoom(chatNo, connection)) connections.delete(connection);
          }
          if (dropEmpty(chatNo, memberNo)) gone.push([chatNo, memberNo]);
        }
      }
      return gone;
    },
  };
}
