import type { Histogram } from 'hdr-histogram-js';
import { createLatencies, encode, merge, percentiles, record } from './latency.js';
import { nowMicros } from './stamp.js';

/** Significant digits of a second's latencies: there may be many seconds. */
const DIGITS = 2;

export type Outcome = 'served' | 'refused' | 'failed';

/** What became of what was due in one second of the monotonic clock, as a process of clients reports it. */
export interface CountedSecond extends Record<'offered' | Outcome, number> {
  second: number;
  /** Encoded histogram: µs from when they were due, of those served. */
  times: string;
  /** Encoded histogram: µs by which they were sent late. */
  late: string;
  /** Deliveries of what was due in it, and their encoded histogram, as of `times`. */
  delivered: number;
  arrivals: string;
}

/** A second of a plot. */
export interface PlottedSecond extends Record<'offered' | 'served' | 'refused', number> {
  /** ms; none if nothing was served. */
  p99?: number;
}

type Counting = Record<'offered' | 'delivered' | Outcome, number> &
  Record<'times' | 'late' | 'arrivals', Histogram>;

/** Counts, per second, what a process of clients offers and what becomes of it. */
export class Timeline {
  readonly #seconds = new Map<number, Counting>();

  /** Something is sent now. @param dueAt when it was due, µs of `nowMicros` */
  offered(dueAt: number): void {
    const counting = this.#at(dueAt);
    counting.offered += 1;
    record(counting.late, nowMicros() - dueAt);
  }

  /** Its outcome is known now. */
  ended(dueAt: number, outcome: Outcome): void {
    const counting = this.#at(dueAt);
    counting[outcome] += 1;
    if (outcome === 'served') record(counting.times, nowMicros() - dueAt);
  }

  /** A delivery of it, of which there may be several. @param now µs */
  delivered(dueAt: number, now: number): void {
    const counting = this.#at(dueAt);
    counting.delivered += 1;
    record(counting.arrivals, now - dueAt);
  }

  read(): CountedSecond[] {
    return [...this.#seconds].map(([second, { times, late, arrivals, ...counts }]) => ({
      ...{ second, ...counts },
      ...{ times: encode(times), late: encode(late), arrivals: encode(arrivals) },
    }));
  }

  reset(): void {
    this.#seconds.clear();
  }

  #at(dueAt: number): Counting {
    const second = Math.floor(dueAt / 1e6);
    let counting = this.#seconds.get(second);
    if (!counting) {
      counting = {
        ...{ offered: 0, served: 0, refused: 0, failed: 0, delivered: 0 },
        ...{ times: createLatencies(DIGITS), late: createLatencies(DIGITS) },
        arrivals: createLatencies(DIGITS),
      };
      this.#seconds.set(second, counting);
    }
    return counting;
  }
}

/** The same seconds by deliveries instead of answers. @param perMessage how many of them a message has */
export function deliveriesOf(seconds: CountedSecond[], perMessage: number): CountedSecond[] {
  return seconds.map((second) => ({
    ...second,
    offered: second.offered * perMessage,
    ...{ served: second.delivered, refused: 0, times: second.arrivals },
  }));
}

const total = (seconds: CountedSecond[], count: 'offered' | Outcome) =>
  seconds.reduce((sum, second) => sum + second[count], 0);

/** All of it: counts, latencies of what was served, and p99 of how late the clients sent, ms. */
export function totalOf(seconds: CountedSecond[]) {
  const served = total(seconds, 'served');
  const refused = total(seconds, 'refused');
  return {
    ...{ served, refused },
    /** Without an answer, or with another one. */
    failed: total(seconds, 'offered') - served - refused,
    times: merge(seconds.map(({ times }) => times)),
    late: percentiles(merge(seconds.map(({ late }) => late))).p99 ?? 0,
  };
}

/** The seconds of all processes of clients in order, without the first and the last one, which are not whole. */
export function plotted(seconds: CountedSecond[]): PlottedSecond[] {
  const bySecond = new Map<number, CountedSecond[]>();
  for (const one of seconds) bySecond.set(one.second, [...(bySecond.get(one.second) ?? []), one]);
  return [...bySecond.keys()]
    .sort((a, b) => a - b)
    .slice(1, -1)
    .map((second) => {
      const ofSecond = bySecond.get(second) ?? [];
      const { served, refused, times } = totalOf(ofSecond);
      const { p99 } = percentiles(times);
      return { offered: total(ofSecond, 'offered'), served, refused, ...(p99 !== undefined && { p99 }) };
    });
}
