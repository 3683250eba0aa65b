import type { Caller } from '../../domain/chat/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
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

/**
 * Identifies the caller of a call documented without an Authorization header. A browser sends its cookie, and has
 * its address, whatever page makes the request: without a token, a page of an origin that CORS_ORIGINS does not
 * name identifies nobody. (contract, section 4; RFC 6265bis, section 8.2)
 */
export async function callerOf(ctx: AppContext, actor: Actor | undefined): Promise<Caller> {
  if (actor) return { actor };
  const origin = ctx.get('Origin');
  if (origin && !ctx.state.knownPage(origin)) return {};
  const { client } = ctx.state;
  const fromCookie = await cookieActor(ctx);
  return { ...(client.proxied ? {} : { client }), ...(fromCookie ? { cookieActor: fromCookie } : {}) };
}
