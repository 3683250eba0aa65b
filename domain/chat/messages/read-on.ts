import type { MessagePayload } from '../../kernel/live.js';
import type { ChatDeps } from '../chat-deps.js';
import { Room } from '../rooms/room.model.js';
import { Message } from './message.model.js';
import { presentPayload } from './message.presenter.js';

/** Most messages read at once; a reader that wants more reads on from the last one. */
const PAGE = 500;

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

/** The newest number of each room, 0 for an empty one; a room that does not exist is left out. */
export async function readHeads(chatNos: number[]): Promise<Map<number, number>> {
  const rooms = await Room.aggregate<{ _id: number; head: { seq: number }[] }>([
    { $match: { _id: { $in: chatNos } } },
    {
      $lookup: {
        from: Message.collection.name,
        localField: '_id',
        foreignField: 'chatNo',
        pipeline: [{ $sort: { seq: -1 } }, { $limit: 1 }, { $project: { seq: 1 } }],
        as: 'head',
      },
    },
    { $project: { head: 1 } },
  ]);
  return new Map(rooms.map(({ _id, head }) => [_id, head[0]?.seq ?? 0]));
}
