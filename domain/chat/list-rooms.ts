import type { Actor } from '../kernel/actor.js';
import { fitting } from '../kernel/list-size.js';
import type { RoomView } from '../kernel/live.js';
import type { ChatDeps } from './chat-deps.js';
import { readRooms } from './message.model.js';
import { BOTH_SIDES, other, requireParticipant } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { stateOf } from './room-states.js';

/**
 * The caller's rooms, most recent first, by their latest message, or their creation if they have none; as many
 * as fit.
 *
 * @param saleNo only the rooms about this adoption post
 */
export async function listRooms(deps: ChatDeps, actor: Actor, saleNo?: number): Promise<RoomView[]> {
  const sale = saleNo === undefined ? {} : { saleNo };
  const ofSides = BOTH_SIDES.map((side) => readRooms({ [side]: actor.no, ...sale }));
  const rooms = (await Promise.all(ofSides)).flat().map((room) => {
    const state = stateOf(room, room.head[0]);
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
  const views = rooms.map(({ state, side }) =>
    presentRoom(state, side, people.get(state[other(side)]), sales.get(state.saleNo)?.title ?? ''),
  );
  return fitting(views);
}
