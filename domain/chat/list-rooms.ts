import type { Actor } from '../kernel/actor.js';
import type { RoomView } from '../kernel/live.js';
import type { ChatDeps } from './chat-deps.js';
import { other, requireParticipant } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { readWithHeads, stateOf } from './room-states.js';

/**
 * The caller's rooms, most recent first, by their latest message, or their creation if they have none.
 *
 * @param saleNo only the rooms about this adoption post
 */
export async function listRooms(deps: ChatDeps, actor: Actor, saleNo?: number): Promise<RoomView[]> {
  const sale: Record<string, number> = saleNo === undefined ? {} : { saleNo };
  const records = (
    await Promise.all([
      readWithHeads({ creator: actor.no, ...sale }),
      readWithHeads({ joiner: actor.no, ...sale }),
    ])
  ).flat();
  const rooms = records.map((record) => {
    const state = stateOf(record, record.head[0]);
    return {
      state,
      side: requireParticipant(state, actor.no),
      at: (state.latest?.sentAt ?? state.createdAt).getTime(),
    };
  });
  rooms.sort((a, b) => b.at - a.at || b.state.chatNo - a.state.chatNo);
  const [people, sales] = await Promise.all([
    deps.directory.lookUp(rooms.map(({ state, side }) => state[other(side)])),
    deps.adoption.findPosts(rooms.map(({ state }) => state.saleNo)),
  ]);
  return rooms.map(({ state, side }) =>
    presentRoom(state, side, people.get(state[other(side)]), sales.get(state.saleNo)?.title ?? ''),
  );
}
