import type { ParameterizedContext } from 'koa';
import type { AppError } from '../domain/kernel/errors.js';

/** What answering needs of a request, whichever router it came through. */
type Answerable = Pick<ParameterizedContext, 'status' | 'body' | 'set'>;

/** The content type of every answer, to the letter. (interface, "Paths and bodies") */
const JSON_TYPE = 'application/json;charset=UTF-8';

/** The body of a mutation that went through. (interface, "Common response bodies") */
export const DONE = { status: 200 } as const;

/** Answers 200 with a JSON body. */
export function respond(ctx: Answerable, body: unknown): void {
  respondSerialised(ctx, JSON.stringify(body));
}

/** Answers 200 with JSON that is serialised already: a large answer that many callers share. */
export function respondSerialised(ctx: Answerable, json: string | Buffer): void {
  ctx.status = 200;
  // Before the body: Koa would look for a type in it, and look that type up.
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = json;
}

/** Answers with an error of the catalogue. `Retry-After` is whole seconds (RFC 9110, 10.2.3). */
export function respondError(ctx: Answerable, error: AppError): void {
  ctx.status = error.status;
  ctx.body = JSON.stringify(error.body);
  ctx.set('Content-Type', JSON_TYPE);
  if (error.retryAfterMs !== undefined) ctx.set('Retry-After', String(Math.ceil(error.retryAfterMs / 1_000)));
}
