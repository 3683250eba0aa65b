import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Notifications } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/logger.js';
import { metrics } from '../../domain/platform/metrics.js';
import { Stream, type StreamServices } from './stream.js';

/** A heartbeat every so many ms; the usual polyfill gives up after 45 s of silence. (contract, section 6) */
const HEARTBEAT_MS = 20_000;

/** Most streams of one member; the oldest gives way. (contract, section 6) */
const MAX_STREAMS = 10;

/** Every open event stream of this process. */
export interface StreamHub {
  /** Takes a response over and streams the member's notifications after `cursor` to it. */
  open(req: IncomingMessage, res: ServerResponse, memberNo: number, expiresAt: number, cursor: number): void;
  /**
   * Ends all streams, each at a random moment of the time given (ms), so that not everybody comes back
   * at once; their clients come back with their last event id.
   */
  close(windowMs: number): Promise<void>;
}

export function createStreamHub(notifications: Notifications, logger: Logger): StreamHub {
  const streams = new Set<Stream>();
  const byMember = new Map<number, Set<Stream>>();
  const expiries = new Map<Stream, NodeJS.Timeout>();
  let closing = false;

  /** One timer a stream would be memory for nothing: only those that end before the next beat get one. */
  function armExpiry(stream: Stream): void {
    const left = stream.expiresAt - Date.now();
    if (left > HEARTBEAT_MS || expiries.has(stream)) return;
    expiries.set(
      stream,
      setTimeout(() => stream.close('expired'), Math.max(0, left)),
    );
  }

  const heartbeat = setInterval(() => {
    for (const stream of streams) {
      stream.heartbeat();
      armExpiry(stream);
    }
  }, HEARTBEAT_MS);

  function forget(stream: Stream): void {
    streams.delete(stream);
    clearTimeout(expiries.get(stream));
    expiries.delete(stream);
    const mine = byMember.get(stream.memberNo);
    mine?.delete(stream);
    if (mine?.size === 0) byMember.delete(stream.memberNo);
  }

  const services: StreamServices = {
    notifications,
    logger,
    onClose(stream, reason) {
      metrics.streams.dec();
      metrics.streamsClosed.inc({ reason });
      forget(stream);
    },
  };

  return {
    open(req, res, memberNo, expiresAt, cursor) {
      // Gone while its cursor was looked up: its `close` has been and will not come again.
      if (res.destroyed || req.socket.destroyed) return;
      const stream = new Stream(res, services, memberNo, expiresAt, cursor);
      metrics.streams.inc();
      streams.add(stream);
      const mine = byMember.get(memberNo) ?? new Set();
      byMember.set(memberNo, mine.add(stream));
      if (mine.size > MAX_STREAMS) mine.values().next().value?.close('too-many');
      armExpiry(stream);
      if (closing) stream.close('drain');
    },

    async close(windowMs) {
      closing = true;
      clearInterval(heartbeat);
      const ends = [...streams].map(
        (stream) =>
          new Promise<void>((resolve) => {
            setTimeout(() => {
              stream.close('drain');
              resolve();
            }, Math.random() * windowMs);
          }),
      );
      await Promise.all(ends);
    },
  };
}
