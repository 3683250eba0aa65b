import type { MessagePayload, RoomHead } from '../kernel/live.js';
import type { ChatDeps } from './chat-deps.js';
import { readMessages, readRooms } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { BOTH_SIDES } from './room.model.js';
import { headOf, stateOf } from './room-states.js';

/** Most messages per read; callers continue after the last one. */
const PAGE = 500;

/** The fields of the newest message that a head consists of. */
const HEAD_FIELDS = { seq: 1, sent: 1, read: 1 } as const;

/**
 * The messages of a room after a number, oldest first, at most PAGE: for a process that has missed pushes.
 * @throws AppError CHAT_ROOM_NOT_FOUND
 */
export async function readAfter(deps: ChatDeps, chatNo: number, after: number): Promise<MessagePayload[]> {
  const records = await readMessages(chatNo, 'oldest', { after, limit: PAGE });
  if (records.length === 0) return [];
  const state = await deps.states.load(chatNo);
  const people = await deps.directory.lookUp([state.creator, state.joiner]);
  return records.map((record) => presentPayload(record, state, people.get(record.senderNo)));
}

/**
 * Publishes everything that a room holds after a number, both read positions, and the room itself to all
 * processes. Sequencers drop what their sockets already have.
 */
export async function republishAfter(deps: ChatDeps, chatNo: number, after: number): Promise<void> {
  const { live, states, changes } = deps;
  for (let last = after; ; ) {
    const payloads = await readAfter(deps, chatNo, last);
    for (const payload of payloads) live.message(payload);
    const newest = payloads.at(-1);
    if (!newest) break;
    last = newest.seq;
  }
  const { reads } = headOf(await states.load(chatNo));
  for (const position of reads) if (position.seq > 0) live.messageRead(chatNo, position);
  changes.touch(chatNo, BOTH_SIDES);
}

async function readMatchingHeads(match: object): Promise<RoomHead[]> {
  const rooms = await readRooms(match, HEAD_FIELDS);
  return rooms.map((room) => headOf(stateOf(room, room.head[0])));
}

/** The heads of these rooms; one that does not exist is left out. */
export function readHeads(chatNos: number[]): Promise<RoomHead[]> {
  return readMatchingHeads({ _id: { $in: chatNos } });
}

/** The heads of all rooms of these members. */
export async function readHeadsOf(memberNos: number[]): Promise<RoomHead[]> {
  const heads = BOTH_SIDES.map((side) => readMatchingHeads({ [side]: { $in: memberNos } }));
  return (await Promise.all(heads)).flat();
}
