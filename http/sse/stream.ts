import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery, Notifications } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/logger.js';
import { formatEvent, HEARTBEAT, RETRY_MS, STREAM_HEADERS } from './event-format.js';

/** Bytes a reader may lag before its stream is closed. (contract, section 6) */
const MAX_LAG = 1024 * 1024;

/** Why a stream ended, for metrics and logs. */
export type CloseReason = 'client' | 'expired' | 'too-many' | 'slow' | 'drain' | 'error';

/** One open event stream: everything after its cursor, in order, each once. */
export interface Stream {
  readonly memberNo: number;
  /** Epoch ms at which its token ends, and so the stream. */
  readonly expiresAt: number;
  heartbeat(): void;
  close(reason: CloseReason): void;
}

/**
 * Opens the stream: subscribes, then replays what was missed, then goes live. A delivery that arrives
 * during the replay is held back by the same rule that heals a lost one: only the number after the
 * cursor is written, a jump is read from the database.
 *
 * @param cursor number of the last notification the client has
 * @param onClose called once, whoever ended the stream
 */
export function openStream(
  req: IncomingMessage,
  res: ServerResponse,
  notifications: Notifications,
  memberNo: number,
  expiresAt: number,
  cursor: number,
  logger: Logger,
  onClose: (reason: CloseReason) => void,
): Stream {
  let last = cursor;
  let reading = true;
  /** The highest number seen that is not written yet. */
  let wanted = cursor;
  let closed = false;

  function close(reason: CloseReason): void {
    if (closed) return;
    closed = true;
    subscription.end();
    onClose(reason);
    // A reader that does not read would hold an orderly end back for ever.
    if (reason === 'slow' || reason === 'client') res.destroy();
    else res.end();
  }

  function write(text: string): void {
    if (closed) return;
    res.write(text);
    if (res.writableLength > MAX_LAG) close('slow');
  }

  function writeDelivery({ n, view }: Delivery): void {
    last = n;
    write(formatEvent(`${memberNo}_${n}`, JSON.stringify(view)));
  }

  /** Resolves when the reader has taken what was written, or is gone. */
  function drained(): Promise<void> {
    if (closed || !res.writableNeedDrain) return Promise.resolve();
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
  async function catchUp(): Promise<void> {
    reading = true;
    try {
      do {
        const target = wanted;
        for await (const page of notifications.replayAfter(memberNo, last)) {
          for (const delivery of page) {
            writeDelivery(delivery);
            // After each: a whole page at once could be more than a reader may lag, for every reader.
            if (res.writableNeedDrain) await drained();
            if (closed) return;
          }
        }
        // Numbers up to here that did not come are those of deleted notifications.
        last = Math.max(last, target);
      } while (wanted > last);
    } finally {
      reading = false;
    }
  }

  function startCatchUp(): void {
    catchUp().catch((error) => {
      logger.warn({ err: error, member: memberNo }, 'a stream could not be caught up; its client comes back');
      close('error');
    });
  }

  const subscription = notifications.subscribe(memberNo, (delivery) => {
    wanted = Math.max(wanted, delivery.n);
    if (reading || delivery.n <= last) return;
    if (delivery.n === last + 1) writeDelivery(delivery);
    else startCatchUp();
  });

  req.socket.setTimeout(0);
  req.socket.setNoDelay(true);
  req.socket.setKeepAlive(true, 30_000);
  res.on('close', () => close('client'));
  res.on('error', () => close('client'));
  res.writeHead(200, STREAM_HEADERS);
  write(
    `retry: ${RETRY_MS}\n${formatEvent(`${memberNo}_${cursor}`, `EventStream Created. [userId=${memberNo}]`)}`,
  );
  void subscription.ready.then(() => {
    if (!closed) startCatchUp();
  });

  return {
    memberNo,
    expiresAt,
    heartbeat: () => write(HEARTBEAT),
    close,
  };
}
