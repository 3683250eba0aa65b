import { createLatencies, encode, record } from '../latency.js';
import { findStamp, nowMicros, stampedAt } from '../stamp.js';

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
  readonly #late = createLatencies();
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
    record(this.#deliveryTimes, now - stampedAt(bytes, at));
  }

  /** A message is sent now. @param dueAt µs, of `nowMicros` */
  sent(dueAt: number): void {
    this.counts.sent += 1;
    record(this.#late, nowMicros() - dueAt);
  }

  /** @param dueAt when its message was due, µs, of `nowMicros` */
  acknowledged(dueAt: number, ok: boolean): void {
    this.counts[ok ? 'acked' : 'refused'] += 1;
    const now = nowMicros();
    if (ok && now > this.#endsAt) this.counts.ackedLate += 1;
    if (ok) record(this.#ackTimes, now - dueAt);
  }

  get answered(): number {
    return this.counts.acked + this.counts.refused;
  }

  /** The counts, with encoded histograms of the times from when they were due to sending, delivery and acknowledgement. */
  read() {
    return {
      ...this.counts,
      deliveryTimes: encode(this.#deliveryTimes),
      ackTimes: encode(this.#ackTimes),
      late: encode(this.#late),
    };
  }

  /** @param endsAt when the last message will be due, µs */
  reset(endsAt = Number.POSITIVE_INFINITY): void {
    this.#endsAt = endsAt;
    Object.assign(this.counts, noCounts());
    this.#deliveryTimes.reset();
    this.#ackTimes.reset();
    this.#late.reset();
  }
}
