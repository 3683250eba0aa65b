import { type MessagePayload, noLive, type RoomMark } from '../../../domain/kernel/live.js';

/** What a process has sent to its sockets. */
export function recording() {
  const messages: MessagePayload[] = [];
  const reads: [memberNo: number, seq: number][] = [];
  const rooms: [memberNo: number, mark: RoomMark][] = [];
  const live: typeof noLive = {
    ...noLive,
    message: (payload) => void messages.push(payload),
    messageRead: (_, { memberNo, seq }) => void reads.push([memberNo, seq]),
    room: (memberNo, _, mark) => void rooms.push([memberNo, mark]),
  };
  return { messages, reads, rooms, live };
}
