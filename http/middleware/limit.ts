import { setTimeout as pause } from 'node:timers/promises';
import type { Middleware } from 'koa';
import type { Actor } from '../../domain/kernel/actor.js';
import { networkOf } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import type { AppContext, AppState } from '../context.js';

/**
 * Time, ms, for which a refusal is held back from an address that has used up its budget. A refusal costs as much CPU
 * as an answer: without the wait, one connection that goes on asking keeps half a core busy.
 */
const REFUSED_MS = 250;

/** Charges the address one request. */
async function charge({ state: { client, domain } }: { state: AppState }): Promise<void> {
  try {
    await domain.rateLimits.take('address', networkOf(client.address));
  } catch (error) {
    if (error instanceof AppError && error.code === 'RATE_LIMITED') await pause(REFUSED_MS);
    throw error;
  }
}

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
