import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Notifications } from '../../domain/notifications/index.js';
import { onRestore } from '../../domain/platform/cluster/restores.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { STREAM_HEADERS, TOO_MANY } from './event-format.js';
import { Stream, type StreamServices } from './stream.js';

/** Heartbeat interval, ms; the usual polyfill reconnects after 45 s of silence. (contract, section 6) */
const HEARTBEAT_MS = 20_000;

/** Most streams of one member, without limits any number; one more is told to try again later. (contract, section 6) */
export const MAX_STREAMS = 10;

/** Every open event stream of this process. */
export class StreamHub {
  readonly #services: StreamServices;
  readonly #isLimited: boolean;
  readonly #streams = new Set<Stream>();
  /** How many each member has: sets of them would take 170 bytes each. */
  readonly #counts = new Map<number, number>();
  readonly #expiries = new Map<Stream, NodeJS.Timeout>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #stopWatching: (() => void)[];
  #closing = false;

  /** @param isLimited whether a member may have MAX_STREAMS at most */
  constructor(notifications: Notifications, logger: Logger, isLimited: boolean) {
    this.#isLimited = isLimited;
    this.#services = {
      notifications,
      logger,
      onClose: (stream, reason) => {
        metrics.streams.dec();
        metrics.streamsClosed.inc({ reason });
        this.#remove(stream);
      },
    };
    this.#heartbeat = setInterval(() => {
      for (const stream of this.#streams) {
        stream.heartbeat();
        this.#setExpiry(stream);
      }
    }, HEARTBEAT_MS);
    this.#stopWatching = [
      metrics.unreadBytes.watch(() => this.#unreadBytes(), { channel: 'streams' }),
      // Their numbers are ahead of the database: clients reconnect with the last one.
      onRestore(() => {
        for (const stream of this.#streams) stream.close('restore');
      }),
    ];
  }

  #unreadBytes(): number {
    let bytes = 0;
    for (const stream of this.#streams) bytes += stream.unreadBytes;
    return bytes;
  }

  /** Streams the member's notifications after `cursor` to a response; the hub owns it from here on. */
  open(req: IncomingMessage, res: ServerResponse, memberNo: number, expiresAt: number, cursor: number): void {
    // The client disconnected during the cursor look-up: `close` will not be emitted again.
    if (res.destroyed || req.socket.destroyed) return;
    const count = this.#counts.get(memberNo) ?? 0;
    if (this.#isLimited && count >= MAX_STREAMS && !this.#closing) {
      metrics.streamsClosed.inc({ reason: 'too-many' });
      res.writeHead(200, STREAM_HEADERS).end(TOO_MANY);
      return;
    }
    const stream = new Stream(res, this.#services, memberNo, expiresAt, cursor);
    metrics.streams.inc();
    this.#streams.add(stream);
    this.#counts.set(memberNo, count + 1);
    this.#setExpiry(stream);
    if (this.#closing) stream.close('drain');
  }

  /**
   * Ends all streams, each at a random moment within `windowMs`, so that clients do not reconnect all at once.
   * They resume with their last event id.
   */
  async close(windowMs: number): Promise<void> {
    this.#closing = true;
    const ends = [...this.#streams].map(
      (stream) =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            stream.close('drain');
            resolve();
          }, Math.random() * windowMs);
        }),
    );
    await Promise.all(ends);
    clearInterval(this.#heartbeat);
    for (const stop of this.#stopWatching) stop();
  }

  /** Sets a timer only if the stream expires before the next heartbeat: one for each would waste memory. */
  #setExpiry(stream: Stream): void {
    const left = stream.expiresAt - Date.now();
    if (left > HEARTBEAT_MS || this.#expiries.has(stream)) return;
    const timer = setTimeout(() => stream.close('expired'), Math.max(0, left));
    this.#expiries.set(stream, timer);
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream);
    clearTimeout(this.#expiries.get(stream));
    this.#expiries.delete(stream);
    const count = (this.#counts.get(stream.memberNo) ?? 0) - 1;
    if (count > 0) this.#counts.set(stream.memberNo, count);
    else this.#counts.delete(stream.memberNo);
  }
}
