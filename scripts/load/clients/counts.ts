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
  /** Those of `acked` and `delivered` that came after the end of sending. */
  ackedLate: 0,
  deliveredLate: 0,
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
  /** When the last message is due, µs. */
  #endsAt = Number.POSITIVE_INFINITY;
  /** Offset of the last stamp in its delivery. */
  #hint = 0;

  /** A delivery, which may contain a stamp. */
  delivered(bytes: Buffer, from: number, to: number): void {
    const now = nowMicros();
    this.counts.delivered += 1;
    if (now > this.#endsAt) this.counts.deliveredLate += 1;
    const at = findStamp(bytes, from, to, this.#hint);
    if (at < 0) return;
    this.#hint = at - from;
    const dueAt = stampedAt(bytes, at);
    record(this.#deliveryTimes, now - dueAt);
    this.#timeline.delivered(dueAt, now);
  }

  /** A message is sent now. @param dueAt µs, of `nowMicros` */
  sent(dueAt: number): void {
    this.counts.sent += 1;
    this.#timeline.offered(dueAt);
  }

  /** @param dueAt when its message was due, µs, of `nowMicros` */
  acknowledged(dueAt: number, ok: boolean): void {
    this.counts[ok ? 'acked' : 'refused'] += 1;
    const now = nowMicros();
    if (ok && now > this.#endsAt) this.counts.ackedLate += 1;
    if (ok) record(this.#ackTimes, now - dueAt);
    this.#timeline.ended(dueAt, ok ? 'served' : 'refused');
  }

  get answered(): number {
    return this.counts.acked + this.counts.refused;
  }

  /** The counts, with encoded histograms of the times from when they were due to delivery and to acknowledgement. */
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

  /** @param endsAt when the last message will be due, µs */
  reset(endsAt = Number.POSITIVE_INFINITY): void {
    this.#endsAt = endsAt;
    Object.assign(this.counts, noCounts());
    this.#deliveryTimes.reset();
    this.#ackTimes.reset();
    this.#timeline.reset();
  }
}
