import type { OpenRooms } from '../../domain/chat/presence/presence.js';

/** Connections without a network: each is in every room until it leaves it. */
export interface FakeRooms extends OpenRooms {
  /** The connection leaves a room without presence being told. */
  leave(chatNo: number, connection: string): void;
  /** Who was taken out, in order. */
  takenOut: [chatNo: number, connection: string][];
}

export function createOpenRooms(): FakeRooms {
  const left = new Set<string>();
  const takenOut: FakeRooms['takenOut'] = [];
  const leave = (chatNo: number, connection: string) => void left.add(`${chatNo} ${connection}`);
  return {
    isInRoom: (chatNo, connection) => !left.has(`${chatNo} ${connection}`),
    takeOut(chatNo, connection) {
      leave(chatNo, connection);
      takenOut.push([chatNo, connection]);
    },
    leave,
    takenOut,
  };
}
