import type { OpenRooms } from '../../domain/chat/presence.js';

/** Connections without sockets: each is in every room until it leaves it. */
export interface FakeRooms extends OpenRooms {
  /** The connection leaves a room without a call to presence. */
  leave(chatNo: number, connection: string): void;
  /** Changes sent to connections of this process alone, in order. */
  sentHere: [chatNo: number, memberNo: number, present: boolean][];
  /** Connections that were removed, in order. */
  takenOut: [chatNo: number, connection: string][];
}

export function createOpenRooms(): FakeRooms {
  const left = new Set<string>();
  const takenOut: FakeRooms['takenOut'] = [];
  const sentHere: FakeRooms['sentHere'] = [];
  const leave = (chatNo: number, connection: string) => void left.add(`${chatNo} ${connection}`);
  return {
    isInRoom: (chatNo, connection) => !left.has(`${chatNo} ${connection}`),
    removeFromRoom(chatNo, connection) {
      leave(chatNo, connection);
      takenOut.push([chatNo, connection]);
    },
    presenceHere: (...change) => void sentHere.push(change),
    leave,
    sentHere,
    takenOut,
  };
}
