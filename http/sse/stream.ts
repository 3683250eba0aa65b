import type { ServerResponse } from 'node:http';
import type { Delivery, Notifications, Subscription } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { step } from '../../domain/platform/observe/tracing.js';
import { releaseHeaders } from '../node-internals.js';
import { formatEvent, HEARTBEAT, RETRY_MS, STREAM_HEADERS } from './event-format.js';

/** Bytes a reader may lag before its stream is closed. (contract, section 6) */
export const MAX_LAG = 1024 * 1024;

/** Why a stream ended, for metrics and, as a comment, at its end. `too-many`: it was refused, not opened (StreamHub). */
export type CloseReason = 'client' | 'expired' | 'too-many' | 'slow' | 'drain' | 'error' | 'restore';

/** How a notification came to a stream, for metrics. */
type Source = 'push' | 'replay' | 'gap';

/** What all streams share. */
export interface StreamServices {
  notifications: Notifications;
  logger: Logger;
  /** Called once for each stream, whichever side ended it. */
  onClose(stream: Stream, reason: CloseReason): void;
}

/**
 * One open event stream: every notification after its cursor, in order, each once.
 *
 * It subscribes, replays what was missed, then writes deliveries as they come. One rule covers deliveries
 * during the replay and lost ones: only the number after the cursor is written, and a gap is read from the
 * database.
 *
 * A class, because streams stay open for hours: closures for each would take more memory.
 */
export class Stream {
  readonly memberNo: number;
  /** When its token expires, and the stream ends, epoch ms. */
  readonly expiresAt: number;
  readonly #requestId: unknown;
  readonly #res: ServerResponse;
  readonly #services: StreamServices;
  readonly #subscription: Subscription;
  #last: number;
  /** The highest number seen. */
  #target: number;
  #reading = true;
  #closed = false;

  /** @param cursor number of the last notification the client has */
  constructor(
    res: ServerResponse,
    services: StreamServices,
    memberNo: number,
    expiresAt: number,
    cursor: number,
  ) {
    this.memberNo = memberNo;
    this.expiresAt = expiresAt;
    this.#requestId = res.getHeader('X-Request-Id');
    this.#res = res;
    this.#services = services;
    this.#last = cursor;
    this.#target = cursor;
    this.#subscription = services.notifications.subscribe(memberNo, (delivery) => this.#onDelivery(delivery));

    const gone = () => this.close('client');
    res.on('close', gone);
    res.on('error', gone);
    res.writeHead(200, STREAM_HEADERS);
    releaseHeaders(res);
    this.#write(
      `retry: ${RETRY_MS}\n${formatEvent(`${memberNo}_${cursor}`, `EventStream Created. [userId=${memberNo}]`)}`,
    );
    void this.#subscription.ready.then(() => {
      if (!this.#closed) this.#startCatchUp('replay');
    });
  }

  /** Bytes that its reader lags. */
  get unreadBytes(): number {
    return this.#res.writableLength;
  }

  heartbeat(): void {
    this.#write(HEARTBEAT);
  }

  close(reason: Exclude<CloseReason, 'too-many'>): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription.end();
    this.#services.onClose(this, reason);
    // A client that does not read would delay an orderly end indefinitely.
    if (reason === 'slow' || reason === 'client') this.#res.destroy();
    else this.#res.end(`: ${reason}\n\n`);
  }

  /** @returns whether it had not seen this number */
  #onDelivery(delivery: Delivery): boolean {
    const isNew = delivery.n > Math.max(this.#target, this.#last);
    this.#target = Math.max(this.#target, delivery.n);
    if (this.#reading || delivery.n <= this.#last) return isNew;
    if (delivery.n === this.#last + 1)
      step('internal', 'deliver to a stream', {}, () => this.#writeDelivery(delivery, 'push'));
    else this.#startCatchUp('gap');
    return isNew;
  }

  #write(text: string): void {
    if (this.#closed) return;
    this.#res.write(text);
    if (this.#res.writableLength > MAX_LAG) this.close('slow');
  }

  #writeDelivery({ n, view, publishedAt }: Delivery, source: Source): void {
    this.#last = n;
    this.#write(formatEvent(`${this.memberNo}_${n}`, JSON.stringify(view)));
    metrics.streamNotifications.inc({ source });
    if (source !== 'replay') metrics.streamDelivery.observe(Math.max(0, Date.now() - publishedAt) / 1_000);
  }

  /** Resolves when the buffer has drained, or the client is gone. */
  #drained(): Promise<void> {
    const res = this.#res;
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        res.off('drain', done);
        res.off('close', done);
        resolve();
      };
      res.on('drain', done);
      res.on('close', done);
    });
  }

  /** Reads until no number seen is missing, no faster than the client reads. */
  async #catchUp(source: Source): Promise<void> {
    this.#reading = true;
    try {
      do {
        const target = this.#target;
        for await (const page of this.#services.notifications.replayAfter(this.memberNo, this.#last)) {
          for (const delivery of page) {
            this.#writeDelivery(delivery, source);
            // After each: a whole page could exceed the permitted lag of any client.
            if (this.#res.writableNeedDrain) await this.#drained();
            if (this.#closed) return;
          }
        }
        // Numbers that are missing up to here are those of deleted notifications.
        this.#last = Math.max(this.#last, target);
      } while (this.#target > this.#last);
    } finally {
      this.#reading = false;
    }
  }

  #startCatchUp(source: Source): void {
    this.#catchUp(source).catch((error) => {
      this.#services.logger.warn(
        { requestId: this.#requestId, err: error, member: this.memberNo },
        'a stream could not catch up; its client reconnects',
      );
      this.close('error');
    });
  }
}
