import getRawBody from 'raw-body';
import { AppError } from '../../domain/kernel/errors.js';
import type { AppContext } from '../context.js';

/** Largest body of the disconnect call, in bytes: it holds one e-mail address. */
const MAX_BODY = 16_384;

function fieldsOf(text: string): Record<string, unknown> {
  if (text.trimStart().startsWith('{')) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    } catch (error) {
      throw new AppError('MALFORMED_BODY', 'the body is neither form fields nor a JSON object', {
        cause: error,
      });
    }
  }
  return Object.fromEntries(new URLSearchParams(text));
}

/** The fields that hold something: the legacy app sends what it does not know as empty text or null. */
function filled(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null));
}

/**
 * The fields of the documented disconnect call: form-encoded whatever its content type says (the
 * legacy client labels the form as JSON), JSON, or the query string where there is no body.
 *
 * @throws AppError PAYLOAD_TOO_LARGE, MALFORMED_BODY
 */
export async function readFormBody(ctx: AppContext): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await getRawBody(ctx.req, {
      length: ctx.get('Content-Length') || undefined,
      limit: MAX_BODY,
      encoding: 'utf8',
    });
  } catch (error) {
    const { status } = error as { status?: number };
    if (status === 413) throw new AppError('PAYLOAD_TOO_LARGE', `the body is larger than ${MAX_BODY} bytes`);
    throw new AppError('MALFORMED_BODY', 'the body could not be read', { cause: error });
  }
  return { ...filled(ctx.query), ...filled(fieldsOf(text)) };
}
