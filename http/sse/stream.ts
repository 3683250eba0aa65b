import type { ServerResponse } from 'node:http';
import type { Delivery, Notifications, Subscription } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/logger.js';
import { formatEvent, HEARTBEAT, RETRY_MS, STREAM_HEADERS } from './event-format.js';

/** Bytes a reader may lag before its stream is closed. (contract, section 6) */
const MAX_LAG = 1024 * 1024;

/** Why a stream ended, for metrics and logs. */
export type CloseReason = 'client' | 'expired' | 'too-many' | 'slow' | 'drain' | 'error';

/** What all streams share. */
export interface StreamServices {
  notifications: Notifications;
  logger: Logger;
  /** Called once for each stream, whoever ended it. */
  onClose(stream: Stream, reason: CloseReason): void;
}

/**
 * One open event stream: everything after its cursor, in order, each once.
 *
 * It subscribes, then replays what was missed, then goes live. A delivery that arrives during the replay
 * is held back by the same rule that heals a lost one: only the number after the cursor is written, a
 * jump is read from the database.
 *
 * A class, because a stream is there for hours: functions of each stream's own would be memory.
 */
export class Stream {
  readonly memberNo: number;
  /** Epoch ms at which its token ends, and so the stream. */
  readonly expiresAt: number;
  private readonly res: ServerResponse;
  private readonly services: StreamServices;
  private readonly subscription: Subscription;
  private last: number;
  /** The highest number seen that is not written yet. */
  private wanted: number;
  private reading = true;
  private closed = false;

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
    this.res = res;
    this.services = services;
    this.last = cursor;
    this.wanted = cursor;
    this.subscription = services.notifications.subscribe(memberNo, (delivery) => this.take(delivery));

    const gone = () => this.close('client');
    res.on('close', gone);
    res.on('error', gone);
    res.writeHead(200, STREAM_HEADERS);
    this.write(
      `retry: ${RETRY_MS}\n${formatEvent(`${memberNo}_${cursor}`, `EventStream Created. [userId=${memberNo}]`)}`,
    );
    void this.subscription.ready.then(() => {
      if (!this.closed) this.startCatchUp();
    });
  }

  heartbeat(): void {
    this.write(HEARTBEAT);
  }

  close(reason: CloseReason): void {
    if (this.closed) return;
    this.closed = true;
    this.subscription.end();
    this.services.onClose(this, reason);
    // A reader that does not read would hold an orderly end back for ever.
    if (reason === 'slow' || reason === 'client') this.res.destroy();
    else this.res.end();
  }

  private take(delivery: Delivery): void {
    this.wanted = Math.max(this.wanted, delivery.n);
    if (this.reading || delivery.n <= this.last) return;
    if (delivery.n === this.last + 1) this.writeDelivery(delivery);
    else this.startCatchUp();
  }

  private write(text: string): void {
    if (this.closed) return;
    this.res.write(text);
    if (this.res.writableLength > MAX_LAG) this.close('slow');
  }

  private writeDelivery({ n, view }: Delivery): void {
    this.last = n;
    this.write(formatEvent(`${this.memberNo}_${n}`, JSON.stringify(view)));
  }

  /** Resolves when the reader has taken what was written, or is gone. */
  private drained(): Promise<void> {
    const { res } = this;
    if (this.closed) return Promise.resolve();
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

  /** Reads on until nothing that was announced is missing, no faster than the reader reads. */
  private async catchUp(): Promise<void> {
    this.reading = true;
    try {
      do {
        const target = this.wanted;
        for await (const page of this.services.notifications.replayAfter(this.memberNo, this.last)) {
          for (const delivery of page) {
            this.writeDelivery(delivery);
            // After each: a whole page at once could be more than a reader may lag, for every reader.
            if (this.res.writableNeedDrain) await this.drained();
            if (this.closed) return;
          }
        }
        // Numbers up to here that did not come are those of deleted notifications.
        this.last = Math.max(this.last, target);
      } while (this.wanted > this.last);
    } finally {
      this.reading = false;
    }
  }

  private startCatchUp(): void {
    this.catchUp().catch((error) => {
      this.services.logger.warn(
        { err: error, member: this.memberNo },
        'a stream could not be caught up; its client comes back',
      );
      this.close('error');
    });
  }
}
