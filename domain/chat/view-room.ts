import type { RoomMark, RoomView } from '../kernel/live.js';
import { requireParticipant } from './chat.policy.js';
import type { ChatDeps } from './chat-deps.js';
import type { Side } from './room.model.js';
import { presentRoom } from './room.presenter.js';
import { markOf, other, type RoomState } from './room-states.js';

/** A room as one participant sees it, and how far that is. */
export interface MarkedView {
  memberNo: number;
  view: RoomView;
  mark: RoomMark;
}

/** A room as these participants see it. */
export async function viewsOf(
  { directory, adoption }: Pick<ChatDeps, 'directory' | 'adoption'>,
  state: RoomState,
  sides: readonly Side[],
): Promise<MarkedView[]> {
  const [people, sale] = await Promise.all([
    directory.lookUp(sides.map((side) => state[other(side)])),
    adoption.findPost(state.saleNo),
  ]);
  return sides.map((side) => ({
    memberNo: state[side],
    view: presentRoom(state, side, people.get(state[other(side)]), sale?.title ?? ''),
    mark: markOf(state, side),
  }));
}

/**
 * A room as a participant sees it, from the database.
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function viewRoom(deps: ChatDeps, chatNo: number, memberNo: number): Promise<MarkedView> {
  const state = await deps.states.load(chatNo);
  const [marked] = await viewsOf(deps, state, [requireParticipant(state, memberNo)]);
  return marked as MarkedView;
}
