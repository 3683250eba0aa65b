import { AppError } from '../../domain/kernel/errors.js';
import { tokenOf } from '../../domain/members/index.js';
import { closeReason } from '../connection/close-reasons.js';
import { armExpiry, closeSocket } from '../connection/session-expiry.js';
import { requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** Extends a connection with a new token of the same member. */
export const authRefresh = defineEvent({
  event: 'auth:refresh',
  limit: 'socketEvent',
  schema: requests['auth:refresh'].request,
  async handle({ domain, socket, logger }, actor, { token }) {
    const session = await domain.members.authenticate(tokenOf(token));
    if (session.actor.no !== actor.no) {
      const members = { member: actor.no, other: session.actor.no };
      logger.warn({ socket: socket.id, ...members }, 'refresh with the token of another member');
      // After the answer has been sent.
      setImmediate(() => closeSocket(socket, closeReason('ANOTHER_MEMBER')));
      throw new AppError('FORBIDDEN', 'token: is of another member');
    }
    socket.data.session = session;
    // A timer of a closed connection would keep it in memory until the token expires.
    if (socket.connected) armExpiry(socket);
    return { expiresAt: session.expiresAt };
  },
});
