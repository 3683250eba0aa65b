/**
 * The closed catalogue of everything a client can be told went wrong. Codes are stable: clients
 * may switch on them, texts may change. (contract, section 2)
 *
 * `retryable`: the same request may succeed later without being changed.
 * `text`: what the client reads when the thrower names nothing more precise.
 */
const catalogue = {
  INVALID_INPUT: { status: 400, retryable: false, text: 'the request holds a value that is not allowed' },
  MALFORMED_BODY: { status: 400, retryable: false, text: 'the body is not well-formed' },
  UNAUTHORIZED: { status: 401, retryable: false, text: 'a valid access token is needed' },
  TOKEN_EXPIRED: { status: 401, retryable: false, text: 'the access token has expired' },
  FORBIDDEN: { status: 403, retryable: false, text: 'this belongs to somebody else' },
  ORIGIN_NOT_ALLOWED: { status: 403, retryable: false, text: 'this origin may not connect' },
  NOT_FOUND: { status: 404, retryable: false, text: 'there is nothing at this path' },
  ARTICLE_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such article' },
  COMMENT_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such comment' },
  HEART_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such heart' },
  BOOKMARK_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such bookmark' },
  SALE_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such adoption post' },
  CHAT_ROOM_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such chat room' },
  MESSAGE_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such message' },
  NOTIFICATION_NOT_FOUND: { status: 404, retryable: false, text: 'there is no such notification' },
  UNKNOWN_EVENT: { status: 404, retryable: false, text: 'there is no such event' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, text: 'this path does not take that method' },
  ALREADY_HEARTED: { status: 409, retryable: false, text: 'this member has given that heart already' },
  ALREADY_BOOKMARKED: { status: 409, retryable: false, text: 'this member has that bookmark already' },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, text: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, text: 'the body must be JSON' },
  RATE_LIMITED: { status: 429, retryable: true, text: 'too many requests' },
  INTERNAL_ERROR: { status: 500, retryable: true, text: 'something went wrong on our side' },
  SERVICE_UNAVAILABLE: { status: 503, retryable: true, text: 'the service is not available right now' },
} as const satisfies Record<string, { status: number; retryable: boolean; text: string }>;

export type ErrorCode = keyof typeof catalogue;

/** The body of every error answer, REST and socket alike. (legacy; contract, section 2) */
export interface ErrorBody {
  status: number;
  message: ErrorCode;
  errors: string[];
}

/** What a retryable error tells the client to wait when its thrower does not say. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** An error a client may see: its code decides the status, its texts name the field at fault. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: string[];
  readonly retryAfterMs: number | undefined;

  /**
   * @param code one of the catalogue
   * @param errors texts for the client that name what is wrong; the catalogue's text when empty
   * @param options `retryAfterMs` (ms) for 429 and 503; `cause` goes to the log, never to the client
   */
  constructor(
    code: ErrorCode,
    errors: string | string[] = [],
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    const texts = typeof errors === 'string' ? [errors] : errors;
    this.errors = texts.length > 0 ? texts : [catalogue[code].text];
    const { status } = catalogue[code];
    this.retryAfterMs =
      options.retryAfterMs ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER_MS : undefined);
  }

  /** HTTP status, 400 to 503. */
  get status(): number {
    return catalogue[this.code].status;
  }

  /** Whether the unchanged request may succeed later. */
  get retryable(): boolean {
    return catalogue[this.code].retryable;
  }

  /** The wire form. */
  get body(): ErrorBody {
    return { status: this.status, message: this.code, errors: this.errors };
  }
}

/** Every code with its status and text, for the API documents. */
export function listErrorCodes(): { code: ErrorCode; status: number; retryable: boolean; text: string }[] {
  return (Object.keys(catalogue) as ErrorCode[]).map((code) => ({ code, ...catalogue[code] }));
}
