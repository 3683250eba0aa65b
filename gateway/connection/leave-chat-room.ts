import type { Domain } from '../../domain/domain.js';
import { chatNoOf, chatRoom } from '../../domain/kernel/socket-rooms.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import type { GatewayServer, GatewaySocket } from './socket.js';

/**
 * Takes a connection out of a chat room. Its presence ends first: a message in between is then delivered and
 * unread, rather than read and not delivered.
 */
export async function leaveChatRoom({ chat }: Domain, socket: GatewaySocket, chatNo: number): Promise<void> {
  await chat.leaveRoom(socket.data.session.actor.no, chatNo, socket.id);
  await socket.leave(chatRoom(chatNo));
}

/** Ends a connection's presence in a room however it leaves: on request, by a failed join, closed, or taken out. */
export function endPresenceOnLeave(io: GatewayServer, { chat }: Domain, logger: Logger): void {
  const { adapter, sockets } = io.of('/');
  adapter.on('leave-room', (room: string, id: string) => {
    const chatNo = chatNoOf(room);
    const memberNo = sockets.get(id)?.data.session.actor.no;
    if (chatNo === undefined || memberNo === undefined) return;
    chat
      .leaveRoom(memberNo, chatNo, id)
      .catch((error) =>
        logger.error({ socket: id, err: error, chatNo, member: memberNo }, 'presence could not be ended'),
      );
  });
}
