/**
 * All errors that a client can receive. Codes are stable: clients may switch on them. Texts may change; the
 * one here is sent if the thrower gives none. (contract, section 2)
 */
const catalogue = {
  INVALID_INPUT: { status: 400, text: 'the request holds a value that is not allowed' },
  MALFORMED_BODY: { status: 400, text: 'the body is not well-formed' },
  UNAUTHORIZED: { status: 401, text: 'a valid access token is needed' },
  TOKEN_EXPIRED: { status: 401, text: 'the access token has expired' },
  FORBIDDEN: { status: 403, text: 'this belongs to somebody else' },
  ORIGIN_NOT_ALLOWED: { status: 403, text: 'this origin may not connect' },
  NOT_FOUND: { status: 404, text: 'there is nothing at this path' },
  ARTICLE_NOT_FOUND: { status: 404, text: 'there is no such article' },
  COMMENT_NOT_FOUND: { status: 404, text: 'there is no such comment' },
  HEART_NOT_FOUND: { status: 404, text: 'there is no such heart' },
  BOOKMARK_NOT_FOUND: { status: 404, text: 'there is no such bookmark' },
  SALE_NOT_FOUND: { status: 404, text: 'there is no such adoption post' },
  CHAT_ROOM_NOT_FOUND: { status: 404, text: 'there is no such chat room' },
  MESSAGE_NOT_FOUND: { status: 404, text: 'there is no such message' },
  NOTIFICATION_NOT_FOUND: { status: 404, text: 'there is no such notification' },
  UNKNOWN_EVENT: { status: 404, text: 'there is no such event' },
  METHOD_NOT_ALLOWED: { status: 405, text: 'this path does not take that method' },
  ALREADY_HEARTED: { status: 409, text: 'this member has given that heart already' },
  ALREADY_BOOKMARKED: { status: 409, text: 'this member has that bookmark already' },
  COMMENTS_FULL: { status: 409, text: 'this article takes no more comments' },
  PAYLOAD_TOO_LARGE: { status: 413, text: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, text: 'the body must be JSON' },
  RATE_LIMITED: { status: 429, text: 'too many requests' },
  QUOTA_EXCEEDED: { status: 429, text: 'this member has stored too much today' },
  INTERNAL_ERROR: { status: 500, text: 'something went wrong on our side' },
  SERVICE_UNAVAILABLE: { status: 503, text: 'the service is not available right now' },
} as const satisfies Record<string, { status: number; text: string }>;

export type ErrorCode = keyof typeof catalogue;

/** The body of every error response, of REST and sockets. (legacy; contract, section 2) */
export interface ErrorBody {
  status: number;
  message: ErrorCode;
  errors: string[];
}

/** Waiting time, ms, sent with 429 and 503 if the thrower gives none. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** An error for the client: its code determines the status, its texts name the invalid field. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: string[];
  readonly retryAfterMs: number | undefined;

  /**
   * @param errors texts for the client; if empty, the catalogue's
   * @param options `retryAfterMs` for 429 and 503; `cause` is logged, never sent
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
    // A text may quote what the client sent.
    this.errors = texts.length > 0 ? texts.map((text) => text.toWellFormed()) : [catalogue[code].text];
    const { status } = catalogue[code];
    this.retryAfterMs =
      options.retryAfterMs ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER_MS : undefined);
  }

  /** HTTP status, 400 to 503. */
  get status(): number {
    return catalogue[this.code].status;
  }

  /** The wire form. */
  get body(): ErrorBody {
    return { status: this.status, message: this.code, errors: this.errors };
  }
}

/** Every code, for the API documents. `retryable`: the same request may succeed later. */
export function listErrorCodes(): { code: ErrorCode; status: number; retryable: boolean; text: string }[] {
  return Object.entries(catalogue).map(([code, { status, text }]) => ({
    code: code as ErrorCode,
    status,
    retryable: status === 429 || status >= 500,
    text,
  }));
}
