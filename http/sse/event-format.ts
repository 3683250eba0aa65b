/**
 * One event in the stream format (HTML Standard, section 9.2).
 * @param data one line, such as JSON, which has no raw line breaks
 */
export function formatEvent(id: string, data: string): string {
  return `id: ${id}\nevent: sse\ndata: ${data}\n\n`;
}

/** A comment line, against the idle time-outs of proxies and polyfills. */
export const HEARTBEAT = ': heartbeat\n\n';

/** Time before a client reconnects, ms. */
export const RETRY_MS = 3_000;

/** Time, ms, before a client tries again whose member has too many streams. */
export const TOO_MANY_RETRY_MS = 60_000;

/**
 * A stream in place of one too many. Neither 204 nor 429, after which browsers and polyfills never come back: the streams
 * of a phone that changed networks count until the system gives them up, and its next one must be served then.
 */
export const TOO_MANY = `retry: ${TOO_MANY_RETRY_MS}\n: too-many\n\n`;

/** Headers of a stream: no proxy may buffer, cache or change it. (interface, "Notifications") */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream;charset=UTF-8',
  'Cache-Control': 'no-cache, no-transform',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
};
