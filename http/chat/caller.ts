import type { Caller } from '../../domain/chat/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { clientHash } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import type { AppContext } from '../context.js';
import { tokenOfCookie } from '../session-cookie.js';

/** The member of the session cookie; an invalid or expired one is ignored. */
async function cookieActor(ctx: AppContext): Promise<Actor | undefined> {
  const token = tokenOfCookie(ctx);
  if (!token) return undefined;
  try {
    return (await ctx.state.domain.members.authenticate(token)).actor;
  } catch (error) {
    if (error instanceof AppError && error.status === 401) return undefined;
    throw error;
  }
}

/** What identifies the caller of a call documented without an Authorization header. (contract, section 4) */
export async function callerOf(ctx: AppContext, actor: Actor | undefined): Promise<Caller> {
  if (actor) return { actor };
  const { client } = ctx.state;
  // RFC 6265bis, section 8.2.
  if (client.foreign) return {};
  return { cookieActor: await cookieActor(ctx), client: clientHash(client) };
}
