import { encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js';
import { createLatencies, note } from '../latency.js';
import { findStamp, nowMicros, stampCount, stampedAt } from '../stamp.js';

/** What a client process has seen since it was last asked to forget. */
export interface Tally {
  sent: number;
  acked: number;
  /** Acknowledged with anything but success. */
  refused: number;
  delivered: number;
  /** Deliveries out of a sender's order, repeats included. */
  disordered: number;
  /** Connections that ended without being asked to. */
  closed: number;
  /** Histograms as text: from sending to delivery, and to acknowledgement. */
  deliveryTimes: string;
  ackTimes: string;
}

/** Counts for one client process. */
export class Counter {
  sent = 0;
  acked = 0;
  refused = 0;
  delivered = 0;
  disordered = 0;
  closed = 0;
  private readonly deliveryTimes: Histogram = createLatencies();
  private readonly ackTimes: Histogram = createLatencies();
  private hint = 0;

  /**
   * A delivery has arrived whose text may hold a stamp.
   * @param last the sender's count in the one before on this connection, 0 for none
   * @returns the count in this one
   */
  heard(bytes: Buffer, from: number, to: number, last: number): number {
    this.delivered += 1;
    const at = findStamp(bytes, from, to, this.hint);
    if (at < 0) return last;
    this.hint = at - from;
    note(this.deliveryTimes, nowMicros() - stampedAt(bytes, at));
    const count = stampCount(bytes, at);
    if (count <= last) this.disordered += 1;
    return count;
  }

  answered(sentAt: number, good: boolean): void {
    if (good) this.acked += 1;
    else this.refused += 1;
    note(this.ackTimes, nowMicros() - sentAt);
  }

  read(): Tally {
    const { sent, acked, refused, delivered, disordered, closed } = this;
    return {
      ...{ sent, acked, refused, delivered, disordered, closed },
      deliveryTimes: encodeIntoCompressedBase64(this.deliveryTimes),
      ackTimes: encodeIntoCompressedBase64(this.ackTimes),
    };
  }

  forget(): void {
    Object.assign(this, { sent: 0, acked: 0, refused: 0, delivered: 0, disordered: 0, closed: 0 });
    this.deliveryTimes.reset();
    this.ackTimes.reset();
  }
}
