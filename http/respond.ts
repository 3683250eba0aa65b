import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import { challengeOf } from '../domain/kernel/challenge.js';
import type { AppError } from '../domain/kernel/errors.js';

/** What an answer needs of a request's context, whatever router it comes from. */
type Answerable = Pick<ParameterizedContext, 'status' | 'body' | 'get' | 'set'>;

/** The content type of every answer, verbatim. (interface, "Paths and bodies") */
export const JSON_TYPE = 'application/json;charset=UTF-8';

/** The body of a mutation. (interface, "Common response bodies") */
export const DONE = { status: 200 } as const;

export const done = z
  .object({ status: z.literal(200).meta({ description: '200 on success' }) })
  .meta({ id: 'Done', description: 'The mutation is done and stored.' });

/** A header for what is one caller's own: no cache may keep it. */
export const NO_STORE = { 'Cache-Control': 'no-store' } as const;

/** The text of a body. It ends its line, so that a shell's prompt does not stand behind it. */
export const toJson = (body: unknown): string => `${JSON.stringify(body)}\n`;

/** Answers 200 with a JSON body. */
export function respond(ctx: Answerable, body: unknown): void {
  respondSerialised(ctx, toJson(body));
}

/** Answers 200 with what `toJson` returned before: a large answer shared by many callers. */
export function respondSerialised(ctx: Answerable, json: string | Buffer): void {
  ctx.status = 200;
  // Before the body, from which Koa would otherwise derive a type.
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = json;
}

/** The value of `Retry-After`: whole seconds. (RFC 9110, 10.2.3) */
export const retryAfter = (ms: number): string => String(Math.ceil(ms / 1_000));

/** Answers with an error. */
export function respondError(ctx: Answerable, error: AppError): void {
  ctx.status = error.status;
  ctx.body = toJson(error.body);
  ctx.set('Content-Type', JSON_TYPE);
  if (error.status === 401) ctx.set('WWW-Authenticate', challengeOf(error, ctx.get('Authorization')));
  if (error.retryAfterMs !== undefined) ctx.set('Retry-After', retryAfter(error.retryAfterMs));
}
