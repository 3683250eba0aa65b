import type { ChatDeps } from './chat-deps.js';
import { requireParticipant } from './room.model.js';
import { type MarkedView, presentTo } from './room.presenter.js';

/**
 * A room as a participant sees it, from the database.
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function viewRoom(deps: ChatDeps, chatNo: number, memberNo: number): Promise<MarkedView> {
  const state = await deps.states.load(chatNo);
  const [marked] = await presentTo(deps, state, [requireParticipant(state, memberNo)]);
  return marked as MarkedView;
}
