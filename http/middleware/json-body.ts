import { isUtf8 } from 'node:buffer';
import { HttpMethodEnum, koaBody } from 'koa-body';
import { AppError } from '../../domain/kernel/errors.js';
import type { AppContext } from '../context.js';

/** Largest JSON body, after decompression. The largest legitimate one, an article, is far below. */
const MAX_BODY = '1mb';

const parse = koaBody({
  json: true,
  jsonLimit: MAX_BODY,
  jsonStrict: true,
  urlencoded: false,
  text: false,
  multipart: false,
  parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
});

function hasBody(ctx: AppContext): boolean {
  return ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length')) > 0;
}

/**
 * Reads the request's JSON body, whatever type it is announced as: the legacy app sends JSON as text, as a
 * form or without a type. No body at all reads as an empty object, whose missing fields the route's schema
 * then names.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or MALFORMED_BODY
 */
export async function readJsonBody(ctx: AppContext): Promise<unknown> {
  if (!hasBody(ctx)) return {};
  if (ctx.is('multipart')) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  // koa-body reads by the announced type, so it is told that this is JSON.
  const request: { body?: unknown } = {};
  const reading = { req: ctx.req, method: ctx.method, is: () => 'json', request };
  const chunks: Buffer[] = [];
  const keep = (chunk: Buffer) => chunks.push(chunk);
  try {
    const parsed = parse(reading as unknown as Parameters<typeof parse>[0], async () => {});
    // After koa-body's own listener, which it adds at once: the first listener sets the stream going.
    ctx.req.on('data', keep);
    await parsed;
  } catch (error) {
    const { status } = error as { status?: number };
    if (status === 413) throw new AppError('PAYLOAD_TOO_LARGE', `the body is larger than ${MAX_BODY}`);
    if (status === 415)
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'this content encoding is not supported');
    if (error instanceof SyntaxError && !ctx.is('json', '+json')) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', [], { cause: error });
    }
    throw new AppError('MALFORMED_BODY', 'the body is not a JSON object', { cause: error });
  } finally {
    ctx.req.off('data', keep);
  }
  // koa-body takes any bytes for UTF-8 and puts U+FFFD for what is none: it would be stored as other text.
  const isPlain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
  if (isPlain && !isUtf8(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))) {
    throw new AppError('MALFORMED_BODY', 'the body is not UTF-8');
  }
  return request.body ?? {};
}
