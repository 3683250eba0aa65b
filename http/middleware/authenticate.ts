import type { Actor } from '../../domain/kernel/actor.js';
import { clientHash } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import { type Session, tokenOf } from '../../domain/members/index.js';
import type { AppContext, Auth } from '../context.js';
import { keepSession } from '../session-cookie.js';

/**
 * The session of the Authorization header, if one is sent.
 * @throws AppError UNAUTHORIZED or TOKEN_EXPIRED for a bad token, even where none is needed
 */
async function sessionOf(ctx: AppContext): Promise<Session | undefined> {
  const header = ctx.get('Authorization');
  if (!header) return undefined;
  const token = tokenOf(header);
  if (!token) throw new AppError('UNAUTHORIZED', 'the Authorization header holds no token');
  const { client, domain } = ctx.state;
  const session = await domain.members.authenticate(token);
  if (!client.foreign) keepSession(ctx, token, session);
  domain.chat.noteClient(clientHash(client), session.actor.no);
  return session;
}

/** The calling member. @throws AppError UNAUTHORIZED if the route requires one and there is none */
export async function authenticate(ctx: AppContext, auth: Auth): Promise<Actor | undefined> {
  const session = await sessionOf(ctx);
  if (!session && auth === 'required') {
    throw new AppError('UNAUTHORIZED', 'the Authorization header is missing');
  }
  ctx.state.session = session;
  return session?.actor;
}
