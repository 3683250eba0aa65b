/**
 * Names of Socket.IO rooms, built nowhere else. Always a prefix and a number of ours: a name made of
 * raw input could be another socket's own room.
 */
export const chatRoom = (chatNo: number): string => `room:${chatNo}`;
export const memberRoom = (memberNo: number): string => `member:${memberNo}`;

/** The member a Socket.IO room stands for, if it does. */
export function memberNoOf(room: string): number | undefined {
  return room.startsWith('member:') ? Number(room.slice(7)) : undefined;
}

/** The chat room a Socket.IO room stands for, if it does. */
export function chatNoOf(room: string): number | undefined {
  return room.startsWith('room:') ? Number(room.slice(5)) : undefined;
}
