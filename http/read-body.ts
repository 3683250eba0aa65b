import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import getRawBody from 'raw-body';
import { AppError } from '../domain/kernel/errors.js';
import type { AppContext } from './context.js';

/** Largest JSON body, bytes, as sent and after decompression. The largest legitimate one, an article, is far below. */
const MAX_BODY = 1024 * 1024;

/** Largest body of the disconnect call, bytes, the same: it holds one e-mail address. */
const MAX_FORM = 16_384;

/** The limit of a kind of body, bytes, and the texts of its errors. */
interface BodyKind {
  max: number;
  tooLarge: string;
  unreadable: string;
}

const JSON_BODY: BodyKind = {
  max: MAX_BODY,
  tooLarge: 'the body is larger than 1mb',
  unreadable: 'the body is not a JSON object',
};

const FORM_BODY: BodyKind = {
  max: MAX_FORM,
  tooLarge: `the body is larger than ${MAX_FORM} bytes`,
  unreadable: 'the body could not be read',
};

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

/**
 * Reads a body as its client meant it.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown content coding, or for several; PAYLOAD_TOO_LARGE, MALFORMED_BODY
 */
async function readBytes(ctx: AppContext, { max, tooLarge, unreadable }: BodyKind): Promise<Buffer> {
  const [coding, another] = codingsOf(ctx.get('Content-Encoding'));
  const decode = coding === undefined ? undefined : decoders.get(coding);
  if ((coding !== undefined && !decode) || another !== undefined) {
    ctx.set('Accept-Encoding', 'gzip, deflate, br');
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding: must be gzip, deflate, br or identity');
  }
  try {
    const sent = await getRawBody(ctx.req, { length: ctx.get('Content-Length') || undefined, limit: max });
    return decode && sent.length > 0 ? await decode(sent, { maxOutputLength: max }) : sent;
  } catch (error) {
    const { status, code } = error as { status?: number; code?: string };
    if (status === 413 || code === 'ERR_BUFFER_TOO_LARGE') throw new AppError('PAYLOAD_TOO_LARGE', tooLarge);
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
  const bytes = await readBytes(ctx, JSON_BODY);
  const value = parseJson(ctx, new TextDecoder().decode(bytes));
  if (!isUtf8(bytes)) throw new AppError('MALFORMED_BODY', 'the body is not UTF-8');
  return value;
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

/** The fields with a value: the legacy app sends unknown values as empty text or null. */
function filled(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null));
}

/**
 * Reads the fields of a form, whatever its content type says (the legacy client labels the form as JSON): form-encoded,
 * a JSON object, or the query string where there is no body.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or MALFORMED_BODY
 */
export async function readFormBody(ctx: AppContext): Promise<Record<string, unknown>> {
  const bytes = await readBytes(ctx, FORM_BODY);
  return { ...filled(ctx.query), ...filled(parseForm(new TextDecoder().decode(bytes))) };
}
