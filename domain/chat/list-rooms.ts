import type { Actor } from '../kernel/actor.js';
import { fitting } from '../kernel/list-size.js';
import type { RoomView } from '../kernel/live.js';
import type { ChatDeps } from './chat-deps.js';
import { type RoomWithHead, readRooms } from './message.model.js';
import { BOTH_SIDES, other, requireParticipant } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { stateOf } from './room-states.js';

/** When a room's latest message was stored, or without any the room, by the clock of the data; of earlier releases by a wall clock. */
function activityOf({ head: [latest], activity, createdAt }: RoomWithHead): number {
  if (latest) return latest.activity ?? latest.sentAt.getTime();
  return activity ?? createdAt.getTime();
}

/**
 * The caller's rooms, latest activity first: their latest message, or their creation if they have none; as many
 * as fit. Wall clocks of processes do not count (fault 48).
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
      activity: activityOf(room),
    };
  });
  rooms.sort((a, b) => b.activity - a.activity || b.state.chatNo - a.state.chatNo);
  const [people, sales] = await Promise.all([
    deps.directory.lookUp(rooms.map(({ state, side }) => state[other(side)])),
    deps.adoption.findPosts(rooms.map(({ state }) => state.saleNo)),
  ]);
  const views = rooms.map(({ state, side }) =>
    presentRoom(state, side, people.get(state[other(side)]), sales.get(state.saleNo)?.title ?? ''),
  );
  return fitting(views);
}
