/** Who acts: a member at a browser, or the app's own server, which renders pages and has no token. */
export type Who = 'author' | 'asker' | 'server';

/** Values that steps have kept, by name. */
export type Kept = Record<string, unknown>;

/** A literal expectation; undefined: the field is absent. */
type JsonValue = string | number | boolean | undefined | JsonValue[] | { [field: string]: JsonValue };

/** Expectations of an answer or an event. */
export interface Expected {
  /**
   * Values at dotted paths such as `list.0.title`; the empty path is the whole. `$name` in a text stands
   * for a kept value; a function tests the value.
   */
  holds?: Record<string, JsonValue | ((value: unknown, kept: Kept) => boolean)>;
  /** Values to keep: name → dotted path. */
  keep?: Record<string, string>;
}

/** A REST call. `$name` in path and body stands for a kept value. */
export interface CallStep extends Expected {
  who: Who;
  does: string;
  /** `POST /community/heart` */
  call: string;
  /** The body as the app sends it, byte for byte. */
  body?: string | ((kept: Kept) => string);
  /** Content type; JSON by default if there is a body. */
  type?: string;
  /** False where the app sends no Authorization header. */
  token?: false;
  /** Expected status; 200 by default. */
  status?: number;
}

/** Enters the room over a socket, in place of the app's STOMP subscription. */
export interface JoinStep extends Expected {
  who: 'author' | 'asker';
  does: string;
  /** The room's number. */
  join: string;
}

/** Waits for an event of the socket; a `message` has to be the next one. */
export interface HearStep extends Expected {
  who: 'author' | 'asker';
  does: string;
  hears: string;
}

/**
 * The event stream: `open` it with a Last-Event-ID header that stays the same, `lose` its connection, wait for
 * the `next` event, or `close` it.
 */
export interface StreamStep extends Expected {
  who: 'author' | 'asker';
  does: string;
  stream: 'open' | 'lose' | 'next' | 'close';
  lastEventId?: string;
}

export type Step = CallStep | JoinStep | HearStep | StreamStep;

/** Content types as the app sends them. */
export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The body of a mutation's answer. */
export const done = { '': { status: 200 } };
