import type { Shape } from '../shapes.js';

/** Who acts: a member at a browser, or the app's own server, which renders pages and has no token. */
export type Who = 'author' | 'asker' | 'server';

/** Values by name, as steps have kept them. */
export type Kept = Record<string, unknown>;

/** What a step may expect literally; undefined: the field is not there. */
type JsonValue = string | number | boolean | undefined | JsonValue[] | { [field: string]: JsonValue };

/** What comes back, from an answer or an event. */
export interface Expected {
  /** Exactly these fields, of these types. */
  shape?: Shape;
  /**
   * Values at dotted paths such as `list.0.title`; the empty path is the whole. `$name` in a text stands
   * for what was kept; a function says whether the value will do.
   */
  holds?: Record<string, JsonValue | ((value: unknown, kept: Kept) => boolean)>;
  /** Values to keep: name → dotted path. */
  keep?: Record<string, string>;
}

/** A REST call. `$name` in path and body stands for what was kept. */
export interface CallStep extends Expected {
  who: Who;
  does: string;
  /** `POST /community/heart` */
  call: string;
  /** The body as the app sends it, byte for byte. */
  body?: string | ((kept: Kept) => string);
  /** Content type: of JSON where there is a body, unless it says otherwise. */
  type?: string;
  /** False where the app sends no Authorization header. */
  token?: false;
  /** Status of the answer, 200 unless it says otherwise. */
  status?: number;
}

/** Enters the room over a socket: what takes the place of the app's STOMP subscription. */
export interface JoinStep extends Expected {
  who: 'author' | 'asker';
  does: string;
  /** The room's number. */
  join: string;
}

/** Waits for an event of the socket; the next `message` has to be this one. */
export interface HearStep extends Expected {
  who: 'author' | 'asker';
  does: string;
  hears: string;
}

/**
 * The event stream: `open` it with a Last-Event-ID header that stays the same for its life, `lose` the
 * connection under it, wait for what is `next` on it, or `close` it.
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

/** The body of every mutation that has nothing else to say. */
export const done = { '': { status: 200 } };
