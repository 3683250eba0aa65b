/**
 * Names of Socket.IO rooms: always a prefix and one of our numbers, since a name from raw input could be
 * another socket's own room.
 */
export const chatRoom = (chatNo: number): string => `room:${chatNo}`;
export const memberRoom = (memberNo: number): string => `member:${memberNo}`;

/** The member of a Socket.IO room, if it is a member's. */
export function memberNoOf(room: string): number | undefined {
  return room.startsWith('member:') ? Number(room.slice(7)) : undefined;
}

/** The chat room of a Socket.IO room, if it is a chat room's. */
export function chatNoOf(room: string): number | undefined {
  return room.startsWith('room:') ? Number(room.slice(5)) : undefined;
}
