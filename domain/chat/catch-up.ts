import type { MessagePayload, RoomHead } from '../kernel/live.js';
import { WHOLE_GROUP } from '../platform/grouped-reads.js';
import type { ChatDeps } from './chat-deps.js';
import { Message } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { BOTH } from './room-changes.js';
import { headOf, readWithHeads, stateOf } from './room-states.js';

/** Most messages read at once; a reader that wants more reads on from the last one. */
const PAGE = 500;

/** What of a message its room's numbers are. */
const NUMBERS = { seq: 1, sent: 1, read: 1 } as const;

/**
 * The messages of a room after a number, oldest first: what a process reads that has missed pushes.
 * @throws AppError CHAT_ROOM_NOT_FOUND
 */
export async function readAfter(deps: ChatDeps, chatNo: number, after: number): Promise<MessagePayload[]> {
  const records = await Message.find({ chatNo, seq: { $gt: after } })
    .sort({ seq: 1 })
    .limit(PAGE)
    .lean();
  if (records.length === 0) return [];
  const state = await deps.states.load(chatNo);
  const people = await deps.directory.lookUp([state.creator, state.joiner]);
  return records.map((record) => presentPayload(record, state, people.get(record.senderNo)));
}

/**
 * Tells of everything that a room holds after a number, of both read positions, and of the room itself, to all
 * processes: each passes on what its sockets have not heard.
 */
export async function tellAfter(deps: ChatDeps, chatNo: number, after: number): Promise<void> {
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
  changes.touch(chatNo, BOTH);
}

/** The numbers of these rooms; one that does not exist is left out. */
export async function readHeads(chatNos: number[]): Promise<RoomHead[]> {
  const rooms = await readWithHeads({ _id: { $in: chatNos } }, WHOLE_GROUP, NUMBERS);
  return rooms.map((room) => headOf(stateOf(room, room.head[0])));
}

/** The numbers of all rooms of these members. */
export async function readHeadsOf(memberNos: number[]): Promise<RoomHead[]> {
  const own = await Promise.all(
    ['creator', 'joiner'].map((side) => readWithHeads({ [side]: { $in: memberNos } }, WHOLE_GROUP, NUMBERS)),
  );
  return own.flat().map((room) => headOf(stateOf(room, room.head[0])));
}
