import { createLatencies, encode, record } from '../latency.js';
import { findStamp, nowMicros, stampedAt } from '../stamp.js';
import { type CountedSecond, Timeline } from '../timeline.js';

export type Counts = ReturnType<typeof noCounts>;

export const noCounts = () => ({
  sent: 0,
  acked: 0,
  /** Acknowledged with another status than 200. */
  refused: 0,
  delivered: 0,
  /** Connections that failed or that the server closed. */
  closed: 0,
});

/** Counts of a client process since the last reset. */
export type WorkerCounts = ReturnType<Counter['read']>;

/** Counts what the connections of a process send and receive. */
export class Counter {
  readonly counts = noCounts();
  readonly #deliveryTimes = createLatencies();
  readonly #ackTimes = createLatencies();
  readonly #timeline = new Timeline();
  /** Offset of the last stamp in its delivery. */
  #hint = 0;

  /** A delivery, which may contain a stamp. */
  delivered(bytes: Buffer, from: number, to: number): void {
    this.counts.delivered += 1;
    const at = findStamp(bytes, from, to, this.#hint);
    if (at < 0) return;
    this.#hint = at - from;
    record(this.#deliveryTimes, nowMicros() - stampedAt(bytes, at));
  }

  /** A message is sent now. @param dueAt µs, of `nowMicros` */
  sent(dueAt: number): void {
    this.counts.sent += 1;
    this.#timeline.offered(dueAt);
  }

  /** @param dueAt when its message was due, µs, of `nowMicros` */
  acknowledged(dueAt: number, ok: boolean): void {
    this.counts[ok ? 'acked' : 'refused'] += 1;
    if (ok) record(this.#ackTimes, nowMicros() - dueAt);
    this.#timeline.ended(dueAt, ok ? 'served' : 'refused');
  }

  get answered(): number {
    return this.counts.acked + this.counts.refused;
  }

  /** The counts, with encoded histograms of the times from sending to delivery and from due to acknowledgement. */
  read() {
    return {
      ...this.counts,
      deliveryTimes: encode(this.#deliveryTimes),
      ackTimes: encode(this.#ackTimes),
    };
  }

  /** What became of the messages of each second. */
  timeline(): CountedSecond[] {
    return this.#timeline.read();
  }

  reset(): void {
    Object.assign(this.counts, noCounts());
    this.#deliveryTimes.reset();
    this.#ackTimes.reset();
    this.#timeline.reset();
  }
}
