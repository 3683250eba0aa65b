import type { OpenRooms } from '../../domain/chat/presence.js';

/** Connections without a network; each is in every room until it leaves it. */
export interface FakeRooms extends OpenRooms {
  /** The connection leaves a room without notifying presence. */
  leave(chatNo: number, connection: string): void;
  /** Presence events for connections of this process only, in order. */
  toldHere: [chatNo: number, memberNo: number, present: boolean][];
  /** Connections taken out of a room, in order. */
  takenOut: [chatNo: number, connection: string][];
}

export function createOpenRooms(): FakeRooms {
  const left = new Set<string>();
  const takenOut: FakeRooms['takenOut'] = [];
  const toldHere: FakeRooms['toldHere'] = [];
  const leave = (chatNo: number, connection: string) => void left.add(`${chatNo} ${connection}`);
  return {
    isInRoom: (chatNo, connection) => !left.has(`${chatNo} ${connection}`),
    takeOut(chatNo, connection) {
      leave(chatNo, connection);
      takenOut.push([chatNo, connection]);
    },
    presenceHere: (...change) => void toldHere.push(change),
    leave,
    toldHere,
    takenOut,
  };
}
