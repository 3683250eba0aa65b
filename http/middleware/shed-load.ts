import type { Middleware } from 'koa';
import type { AppState } from '../context.js';
import { respondError } from '../respond.js';

/** Refuses requests of an overloaded process, at less cost than an error: nothing is thrown, read or logged. */
export const shedLoad: Middleware<AppState> = async (ctx, next) => {
  const refused = ctx.state.domain.overload.refuse('request');
  if (refused) respondError(ctx, refused);
  else await next();
};
