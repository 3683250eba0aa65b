import type { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import getRawBody from 'raw-body';
import { AppError } from '../domain/kernel/errors.js';
import type { AppContext } from './context.js';

/** Largest JSON body, after decompression. The largest legitimate one, an article, is far below. */
const MAX_BODY = '1mb';

/** Largest body of the disconnect call, in bytes: it holds one e-mail address. */
const MAX_FORM = 16_384;

/** The body as sent, before compression. @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown encoding */
function decompressed({ req }: AppContext, encoding: string): Readable {
  if (encoding === 'identity') return req;
  if (!['gzip', 'deflate', 'br'].includes(encoding)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'this content encoding is not supported');
  }
  const decoder = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  // A client that goes away in the middle never ends the stream.
  req.once('close', () => req.complete || decoder.destroy(new Error('the request was cut short')));
  return req.pipe(decoder);
}

/**
 * Reads a body of limited size.
 * @throws AppError PAYLOAD_TOO_LARGE, MALFORMED_BODY with the given reason
 */
async function readBytes(
  ctx: AppContext,
  stream: Readable,
  limit: number | string,
  tooLarge: string,
  unreadable: string,
): Promise<Buffer> {
  try {
    const length = (stream === ctx.req && ctx.get('Content-Length')) || undefined;
    return await getRawBody(stream, { length, limit });
  } catch (error) {
    if ((error as { status?: number }).status === 413) throw new AppError('PAYLOAD_TOO_LARGE', tooLarge);
    throw new AppError('MALFORMED_BODY', unreadable, { cause: error });
  }
}

function parseJson(ctx: AppContext, text: string): unknown {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
    throw new SyntaxError('neither an object nor a list');
  } catch (error) {
    if (!ctx.is('json', '+json')) throw new AppError('UNSUPPORTED_MEDIA_TYPE', [], { cause: error });
    throw new AppError('MALFORMED_BODY', 'the body is not a JSON object', { cause: error });
  }
}

/**
 * Reads a JSON body under any content type but multipart: the legacy app sends JSON as text, as a form or
 * without a type. No body at all reads as an empty object, whose missing fields the route's schema then names.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or MALFORMED_BODY
 */
export async function readJsonBody(ctx: AppContext): Promise<unknown> {
  if (ctx.get('Transfer-Encoding') === '' && !(Number(ctx.get('Content-Length')) > 0)) return {};
  if (ctx.is('multipart')) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  const bytes = await readBytes(
    ctx,
    decompressed(ctx, ctx.get('Content-Encoding') || 'identity'),
    MAX_BODY,
    `the body is larger than ${MAX_BODY}`,
    'the body is not a JSON object',
  );
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError('MALFORMED_BODY', 'the body is not UTF-8', { cause: error });
  }
  return parseJson(ctx, text);
}

function parseForm(text: string): Record<string, unknown> {
  if (!text.trimStart().startsWith('{')) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('MALFORMED_BODY', 'the body is neither form fields nor a JSON object', {
      cause: error,
    });
  }
}

/** The fields that hold something: the legacy app sends unknown values as empty text or null. */
function filled(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null));
}

/**
 * Reads the fields of a form, whatever its content type says (the legacy client labels the form as JSON): form-encoded,
 * a JSON object, or the query string where there is no body.
 *
 * @throws AppError PAYLOAD_TOO_LARGE, MALFORMED_BODY
 */
export async function readFormBody(ctx: AppContext): Promise<Record<string, unknown>> {
  const bytes = await readBytes(
    ctx,
    ctx.req,
    MAX_FORM,
    `the body is larger than ${MAX_FORM} bytes`,
    'the body could not be read',
  );
  return { ...filled(ctx.query), ...filled(parseForm(bytes.toString('utf8'))) };
}
