import type { Caller } from '../../domain/chat/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { AppError } from '../../domain/kernel/errors.js';
import type { AppContext } from '../context.js';
import { tokenOfCookie } from '../session-cookie.js';

/** The member of the session cookie; a cookie that no longer holds is no cookie. */
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

/** Who stands behind a call that is documented without an Authorization header. */
export async function callerOf(ctx: AppContext, actor: Actor | undefined): Promise<Caller> {
  const { client } = ctx.state;
  if (actor) return { actor, client };
  const fromCookie = await cookieActor(ctx);
  return { client, ...(fromCookie ? { cookieActor: fromCookie } : {}) };
}
