/**
 * One event in the stream format (HTML Standard, section 9.2). Data is one line: JSON has no raw line
 * breaks, and ours is nothing else but the first event's fixed text.
 */
export function formatEvent(id: string, data: string): string {
  return `id: ${id}\nevent: sse\ndata: ${data}\n\n`;
}

/** A comment line that keeps proxies and polyfills from giving the stream up. */
export const HEARTBEAT = ': heartbeat\n\n';

/** How long, in ms, a client waits before it connects again. */
export const RETRY_MS = 3_000;

/** Headers of a stream's answer: no proxy may hold it back, keep it or change it. (interface, "Notifications") */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream;charset=UTF-8',
  'Cache-Control': 'no-cache, no-transform',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
};
