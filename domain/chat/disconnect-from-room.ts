import type { Person } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import type { ChatDeps } from './chat-deps.js';
import { type Caller, possibleCallers } from './identify-poster.js';
import { sideOf } from './room.model.js';

/** @throws AppError CHAT_ROOM_NOT_FOUND as `disconnectFromRoom` says */
async function disconnectMember(deps: ChatDeps, actor: Person, chatNo: number, email: string): Promise<void> {
  const room = await deps.states.get(chatNo);
  const member = await deps.directory.findByEmail(email);
  if (!member || !sideOf(room, member.no)) {
    if (member?.no !== actor.no && !sideOf(room, actor.no)) return;
    throw new AppError('CHAT_ROOM_NOT_FOUND', `email: takes no part in chat room ${chatNo}`);
  }
  if (member.no === actor.no) await deps.presence.clear(chatNo, member.no);
}

/**
 * The documented disconnect call. From the member themselves (token, session cookie or recent client) it
 * removes all of their connections from the room, on every process. From anybody else it does nothing.
 * Without a token the answer is the same for any caller, room and address, and so are the look-ups before it, but for a
 * room that does not exist: a forged call neither removes anybody nor reveals who takes part in a room. (contract,
 * section 4; docs/decisions/identity.md)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND to the caller of a token: there is no such room; or the e-mail is no
 *   participant's, and either it or the room is the caller's
 */
export async function disconnectFromRoom(
  deps: ChatDeps,
  caller: Caller,
  chatNo: number,
  email: string,
): Promise<void> {
  if (caller.actor) return disconnectMember(deps, caller.actor, chatNo, email);
  if (deps.config.LEGACY_ANONYMOUS === 'off') return;
  const [room, member] = await Promise.all([deps.states.glance(chatNo), deps.directory.findByEmail(email)]);
  const callers = room ? await possibleCallers(deps, room, caller) : [];
  if (member && callers.includes(member.no)) await deps.presence.clear(chatNo, member.no);
}
