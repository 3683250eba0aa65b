import { AppError } from '../kernel/errors.js';
import type { ChatDeps } from './chat-deps.js';
import { type Caller, membersBehind } from './identify-poster.js';
import { sideOf } from './room.model.js';

/**
 * The documented disconnect call. From the member themselves (token, session cookie or bound client)
 * it takes all of their connections out of the room, on every process. From anybody else it is only
 * a request, answered alike whatever the room and the address: presence that a live connection holds
 * stays, and what no connection holds ends by itself. So a forged call throws nobody out and tells
 * nothing. (contract, section 4)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND, for a caller who is known: there is no such room, or this e-mail
 *   takes no part in it and the caller may know that (it is their own, or the room is theirs)
 */
export async function disconnectFromRoom(
  deps: ChatDeps,
  caller: Caller,
  chatNo: number,
  email: string,
): Promise<void> {
  const behind = await membersBehind(deps, caller);
  if (behind.length === 0) return;
  const room = await deps.states.get(chatNo);
  const member = await deps.directory.findByEmail(email);
  const isCaller = member !== undefined && behind.includes(member.no);
  if (!member || !sideOf(room, member.no)) {
    if (!isCaller && !behind.some((no) => sideOf(room, no))) return;
    throw new AppError('CHAT_ROOM_NOT_FOUND', `email: takes no part in chat room ${chatNo}`);
  }
  if (isCaller) await deps.presence.clear(chatNo, member.no);
}
