import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import getRawBody from 'raw-body';
import { networkOf } from '../domain/kernel/client.js';
import { AppError } from '../domain/kernel/errors.js';
import type { AppContext } from './context.js';

/** Largest JSON body, bytes, as sent and after decompression: the longest message, each character escaped, and a margin. */
export const MAX_BODY = 64 * 1024;

/** The same of an article. */
export const MAX_ARTICLE_BODY = 1024 * 1024;

/** Most levels and values that a JSON body may have, far more than any call takes: what is larger is not even parsed. */
export const MAX_DEPTH = 32;
export const MAX_VALUES = 5_000;

/** Largest body of the disconnect call, bytes, the same: it holds one e-mail address. */
export const MAX_FORM = 16_384;

/**
 * A whole body at once: a decoder in the request's stream would have to be ended on every way out, or its late
 * error ends the process.
 */
const decoders = new Map([
  ['gzip', promisify(unzip)],
  ['x-gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
]);

/** The codings of a Content-Encoding, in any case, without `identity`, which changes nothing. (RFC 9110, 8.4) */
const codingsOf = (header: string): string[] =>
  header
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');

/** Charges the address for bytes before they are decompressed or parsed. */
async function charge({ state: { client, domain } }: AppContext, { length }: Buffer): Promise<void> {
  if (length > 0) await domain.rateLimits.take('bytes', networkOf(client.address), length);
}

/**
 * Reads a body as its client meant it.
 *
 * @param max bytes, as sent and after decompression
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown content coding, or for several; PAYLOAD_TOO_LARGE, RATE_LIMITED;
 *   MALFORMED_BODY with the given reason
 */
async function readBytes(ctx: AppContext, max: number, unreadable: string): Promise<Buffer> {
  const [coding, another] = codingsOf(ctx.get('Content-Encoding'));
  const decode = coding === undefined ? undefined : decoders.get(coding);
  if ((coding !== undefined && !decode) || another !== undefined) {
    ctx.set('Accept-Encoding', 'gzip, deflate, br');
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding: must be gzip, deflate, br or identity');
  }
  const readable = (bytes: Promise<Buffer>) =>
    bytes.catch((error: { status?: number; code?: string }) => {
      if (error.status === 413 || error.code === 'ERR_BUFFER_TOO_LARGE')
        throw new AppError('PAYLOAD_TOO_LARGE', `the body is larger than ${max} bytes`);
      throw new AppError('MALFORMED_BODY', unreadable, { cause: error });
    });
  const length = ctx.get('Content-Length') || undefined;
  const sent = await readable(getRawBody(ctx.req, { length, limit: max }));
  await charge(ctx, sent);
  if (!decode || sent.length === 0) return sent;
  const decoded = await readable(decode(sent, { maxOutputLength: max }));
  await charge(ctx, decoded);
  return decoded;
}

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,') as unknown as [number, number, number];
const OPENING = new Set(Buffer.from('[{'));
const CLOSING = new Set(Buffer.from(']}'));

/**
 * Bounds how deep and how many the values of a JSON text are, before they become objects that are copied.
 * @throws AppError INVALID_INPUT
 */
function checkShape(json: Buffer): void {
  let depth = 0;
  let values = 1;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] as number;
    if (inText) {
      if (byte === BACKSLASH) i++;
      else inText = byte !== QUOTE;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA) values++;
    else if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    if (depth > MAX_DEPTH) throw new AppError('INVALID_INPUT', `body: has more than ${MAX_DEPTH} levels`);
    if (values > MAX_VALUES) throw new AppError('INVALID_INPUT', `body: has more than ${MAX_VALUES} values`);
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
 * @param max bytes, as sent and after decompression
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, RATE_LIMITED, MALFORMED_BODY, INVALID_INPUT
 */
export async function readJsonBody(ctx: AppContext, max: number): Promise<unknown> {
  if (ctx.get('Transfer-Encoding') === '' && !(Number(ctx.get('Content-Length')) > 0)) return {};
  if (ctx.is('multipart')) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  // A few bytes may decompress to the whole limit. (A form's is small.)
  if (!ctx.state.session && codingsOf(ctx.get('Content-Encoding')).length > 0)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding: compressed JSON needs a token');
  const bytes = await readBytes(ctx, max, 'the body is not a JSON object');
  checkShape(bytes);
  const value = parseJson(ctx, new TextDecoder().decode(bytes));
  if (!isUtf8(bytes)) throw new AppError('MALFORMED_BODY', 'the body is not UTF-8');
  return value;
}

function parseForm(bytes: Buffer): Record<string, unknown> {
  const text = new TextDecoder().decode(bytes);
  if (!text.trimStart().startsWith('{')) return Object.fromEntries(new URLSearchParams(text));
  checkShape(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('MALFORMED_BODY', 'the body is neither form fields nor a JSON object', {
      cause: error,
    });
  }
}

/** The fields with a value: the legacy app sends unknown values as empty text or null. */
function filled(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null));
}

/**
 * Reads the fields of a form, whatever its content type says (the legacy client labels the form as JSON): form-encoded,
 * a JSON object, or the query string where there is no body.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, RATE_LIMITED, MALFORMED_BODY, INVALID_INPUT
 */
export async function readFormBody(ctx: AppContext): Promise<Record<string, unknown>> {
  const bytes = await readBytes(ctx, MAX_FORM, 'the body could not be read');
  return { ...filled(ctx.query), ...filled(parseForm(bytes)) };
}
