import type { Middleware } from 'koa';
import type { Actor } from '../../domain/kernel/actor.js';
import type { AppContext, AppState } from '../context.js';

/** Takes one request from the address's budget, before anything of it is read. */
export const limitAddress: Middleware<AppState> = async (ctx, next) => {
  await ctx.state.domain.rateLimits.take('address', ctx.state.client.address);
  await next();
};

/** Takes one request from the caller's budget: the member's, or the address's without a token. */
export async function limit(
  ctx: AppContext,
  budget: 'read' | 'write',
  actor: Actor | undefined,
): Promise<void> {
  await ctx.state.domain.rateLimits.take(budget, actor ? `member:${actor.no}` : ctx.state.client.address);
}
