import type { Actor } from '../kernel/actor.js';
import type { ChatDeps } from './chat-deps.js';
import { requireParticipant } from './room.model.js';
import type { RoomState } from './room-states.js';

/**
 * Moves a participant's read position forward, up to the newest message at most, and publishes it to the room
 * and the reader's room list. An earlier position changes nothing.
 */
export async function markStateRead(
  { ledger, live, changes }: Pick<ChatDeps, 'ledger' | 'live' | 'changes'>,
  state: RoomState,
  memberNo: number,
  seq: number,
): Promise<void> {
  const side = requireParticipant(state, memberNo);
  const moved = await ledger.markRead(state, side, seq);
  if (moved === undefined) return;
  live.messageRead(state.chatNo, moved);
  changes.touch(state.chatNo, [side]);
}

/**
 * @param seq number of the last message read
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function markRead(deps: ChatDeps, actor: Actor, chatNo: number, seq: number): Promise<void> {
  const known = await deps.states.get(chatNo);
  requireParticipant(known, actor.no);
  // Another process may have stored it: only the database knows the newest number.
  const state = seq > known.seq ? await deps.states.load(chatNo) : known;
  await markStateRead(deps, state, actor.no, seq);
}
