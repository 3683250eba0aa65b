import type { Middleware } from 'koa';
import type { Actor } from '../../domain/kernel/actor.js';
import { networkOf } from '../../domain/kernel/client.js';
import type { AppContext, AppState } from '../context.js';

/** Charges the address one request. */
const charge = ({ state: { client, domain } }: { state: AppState }): Promise<void> =>
  domain.rateLimits.take('address', networkOf(client.address));

/** Charges the address a preflight, before CORS answers it. */
export const limitPreflights: Middleware<AppState> = async (ctx, next) => {
  if (ctx.method === 'OPTIONS') await charge(ctx);
  await next();
};

/** Charges the address any other request, before the body is read, and once CORS lets its page read a refusal. */
export const limitAddress: Middleware<AppState> = async (ctx, next) => {
  if (ctx.method !== 'OPTIONS') await charge(ctx);
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
