import { AppError } from '../../kernel/errors.js';
import type { ChatDeps } from '../chat-deps.js';
import { type Caller, participantsBehind } from '../messages/identify-sender.js';
import { sideOf } from '../messages/message.presenter.js';

/** One connection leaves a room; presence ends with a member's last one. */
export async function leaveRoom(
  { presence, live }: ChatDeps,
  memberNo: number,
  chatNo: number,
  connection: string,
): Promise<void> {
  if (await presence.leave(chatNo, memberNo, connection)) live.presence(chatNo, memberNo, false);
}

/** A connection is gone: it leaves every room it was in. */
export async function connectionClosed(
  deps: ChatDeps,
  memberNo: number,
  chatNos: number[],
  connection: string,
): Promise<void> {
  await Promise.all(chatNos.map((chatNo) => leaveRoom(deps, memberNo, chatNo, connection)));
}

/**
 * The documented disconnect call. From the member themselves (token, session cookie or bound client)
 * it takes all of their connections out of the room, on every process. From anybody else it is only
 * a request, answered alike: presence that a live connection holds stays, and what no connection
 * holds ends by itself. So a forged call throws nobody out. (contract, section 4)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND for an unknown room, or one this e-mail takes no part in
 */
export async function disconnectFromRoom(
  deps: ChatDeps,
  caller: Caller,
  chatNo: number,
  email: string,
): Promise<void> {
  const room = await deps.states.get(chatNo);
  const member = await deps.directory.findByEmail(email);
  if (!member || !sideOf(room, member.no)) {
    throw new AppError('CHAT_ROOM_NOT_FOUND', `email: takes no part in chat room ${chatNo}`);
  }
  const behind = await participantsBehind(deps, room, caller);
  if (!behind.some(({ no }) => no === member.no)) return;
  deps.live.leaveRoom(chatNo, member.no);
  if (await deps.presence.clear(chatNo, member.no)) deps.live.presence(chatNo, member.no, false);
}
