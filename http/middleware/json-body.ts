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
 * Reads the request's JSON body; no body at all reads as an empty object, whose missing fields the
 * route's schema then names.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or MALFORMED_BODY
 */
export async function readJsonBody(ctx: AppContext): Promise<unknown> {
  if (!hasBody(ctx)) return {};
  // Not `+json`: koa-body reads some types of that form and silently leaves out the rest.
  if (!ctx.is('json')) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  try {
    await parse(ctx as Parameters<typeof parse>[0], async () => {});
  } catch (error) {
    const { status } = error as { status?: number };
    if (status === 413) throw new AppError('PAYLOAD_TOO_LARGE', `the body is larger than ${MAX_BODY}`);
    if (status === 415)
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'this content encoding is not supported');
    throw new AppError('MALFORMED_BODY', 'the body is not a JSON object', { cause: error });
  }
  return ctx.request.body ?? {};
}
