import { AppError } from '../kernel/errors.js';
import type { ChatDeps } from './chat-deps.js';
import { type Caller, possibleCallers } from './identify-poster.js';
import { sideOf } from './room.model.js';

/**
 * The documented disconnect call. From the member themselves (token, session cookie or recent client) it
 * removes all of their connections from the room, on every process. From anybody else it does nothing, and
 * the answer is the same for any room and address: a forged call neither removes anybody nor reveals
 * anything. (contract, section 4)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND to an identified caller: there is no such room; or the e-mail is no
 *   participant's, and either it or the room is the caller's
 */
export async function disconnectFromRoom(
  deps: ChatDeps,
  caller: Caller,
  chatNo: number,
  email: string,
): Promise<void> {
  const callers = await possibleCallers(deps, caller);
  if (callers.length === 0) return;
  const room = await deps.states.get(chatNo);
  const member = await deps.directory.findByEmail(email);
  const isCaller = member !== undefined && callers.includes(member.no);
  if (!member || !sideOf(room, member.no)) {
    if (!isCaller && !callers.some((no) => sideOf(room, no))) return;
    throw new AppError('CHAT_ROOM_NOT_FOUND', `email: takes no part in chat room ${chatNo}`);
  }
  if (isCaller) await deps.presence.clear(chatNo, member.no);
}
