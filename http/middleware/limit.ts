import type { Middleware } from 'koa';
import type { Actor } from '../../domain/kernel/actor.js';
import { networkOf } from '../../domain/kernel/client.js';
import type { AppContext, AppState } from '../context.js';

/** Charges the address one request, before the body is read. */
export const limitAddress: Middleware<AppState> = async (ctx, next) => {
  await ctx.state.domain.rateLimits.take('address', networkOf(ctx.state.client.address));
  await next();
};

/** Charges one request to the member, or to the address without a token. */
export async function limit(
  ctx: AppContext,
  budget: 'read' | 'list' | 'write' | 'search',
  actor: Actor | undefined,
): Promise<void> {
  await ctx.state.domain.rateLimits.take(
    budget,
    actor ? `member:${actor.no}` : networkOf(ctx.state.client.address),
  );
}
