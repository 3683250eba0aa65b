import { AppError } from '../kernel/errors.js';
import { oldSpaceShare } from './heap.js';
import type { Logger } from './logger.js';
import { metrics } from './metrics.js';

/** What can be refused: REST requests, connects of sockets, their events. */
type Work = 'request' | 'connect' | 'event';

/** How busy a process is. */
interface Strain {
  /** How much later than due a timer ran, ms: what is read from a connection has waited as long. */
  lagMs: number;
  /** Share of the time since the last reading in which the event loop did not wait for work. */
  busy: number;
  /** What is used of the heap, new objects left out, as a share of its limit. */
  heap: number;
}

/** Interval of the samples, ms. */
const SAMPLE_MS = 20;

/**
 * Lag that, for WINDOW_MS without a break, means more work than the process can do, ms. A single pause, for example of the
 * garbage collector, does not. The same rule as for queues of routers (CoDel, RFC 8289).
 */
const LAG_MS = 15;
const WINDOW_MS = 100;

/** Lag of a process that is less busy comes from others on its machine: refusing work would not end it. */
const BUSY = 0.9;

/** The share of work that is taken on is multiplied by this in each window with too much lag, and rises by this in others. */
const DECREASE = 0.8;
const INCREASE = 0.05;

/** Smallest share, so that the lag still tells what the work costs. */
const LEAST_SHARE = 0.05;

/** A process is busy with its own start until this time after it, ms: that is no load of clients. */
const STARTING_MS = 2_000;

/** Shares of the heap's limit: from the first on nothing is taken on, until less than the second is used. */
const HEAP_FULL = 0.9;
const HEAP_FREE = 0.85;

/** Time of overload, ms, after which a process reports that it is not ready. */
const LASTING_MS = 2_000;

/** Clients that are refused wait this long, ms, each another time, so that they do not come back together. */
const RETRY_MS = [1_000, 5_000] as const;

/** @returns reads the strain of this process; `dueAt` is when the timer was to run (performance.now()) */
function createStrainReader(): (dueAt: number) => Strain {
  let before = performance.eventLoopUtilization();
  return (dueAt) => {
    const now = performance.eventLoopUtilization();
    const { utilization: busy } = performance.eventLoopUtilization(now, before);
    before = now;
    return { lagMs: Math.max(0, performance.now() - dueAt), busy, heap: oldSpaceShare() };
  };
}

/**
 * Sheds load: refuses a share of all new work while the event loop lags or the heap is nearly full, so that the rest is
 * served in time. The share falls as long as the lag stays and rises slowly after it, hence it does not
 * flap. Connects are refused more often: each brings more work. (fault 47)
 */
export class Overload {
  readonly #logger: Logger;
  /** Share of the work that is taken on, and what is left of it by the last decision. */
  #share = 1;
  #credit = 0;
  #heapFull = false;
  /** Of this window: its length so far and the least lag, ms. */
  #elapsedMs = 0;
  #leastLagMs = Number.POSITIVE_INFINITY;
  /** How long work has been refused without a break, ms. */
  #lastedMs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
    metrics.workAccepted.set(1);
  }

  /** Starts to sample this process. @returns a function that stops it */
  watch(): () => void {
    const read = createStrainReader();
    const servesFrom = performance.now() + STARTING_MS;
    let dueAt = performance.now() + SAMPLE_MS;
    const timer = setInterval(() => {
      const strain = read(dueAt);
      if (performance.now() >= servesFrom) this.sample(strain);
      dueAt = performance.now() + SAMPLE_MS;
    }, SAMPLE_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Whether work has been refused for so long that clients are better served elsewhere. */
  get isLasting(): boolean {
    return this.#lastedMs >= LASTING_MS;
  }

  /**
   * Decides whether a piece of work is taken on. To be asked as early as possible.
   * @returns the answer to work that is not: SERVICE_UNAVAILABLE with a waiting time
   */
  refuse(work: Work): AppError | undefined {
    if (this.#takes(work)) return undefined;
    metrics.workRefused.inc({ work });
    const [least, most] = RETRY_MS;
    const retryAfterMs = Math.round(least + Math.random() * (most - least));
    return new AppError('SERVICE_UNAVAILABLE', 'this process is overloaded', { retryAfterMs });
  }

  #takes(work: Work): boolean {
    if (this.#share === 1 && !this.#heapFull) return true;
    if (this.#heapFull) return false;
    this.#credit += work === 'connect' ? this.#share ** 2 : this.#share;
    if (this.#credit < 1) return false;
    this.#credit -= 1;
    return true;
  }

  /** Takes a sample into account; `watch` takes one every SAMPLE_MS. */
  sample({ lagMs, busy, heap }: Strain): void {
    this.#heapFull = heap >= (this.#heapFull ? HEAP_FREE : HEAP_FULL);
    this.#elapsedMs += SAMPLE_MS + lagMs;
    const ownLagMs = busy < BUSY ? 0 : lagMs;
    // A longer lag is a window without a break by itself.
    this.#leastLagMs = ownLagMs >= WINDOW_MS ? ownLagMs : Math.min(this.#leastLagMs, ownLagMs);
    if (this.#elapsedMs >= WINDOW_MS) this.#endWindow();
  }

  /** Sets the share by the lag of the window. */
  #endWindow(): void {
    const windows = this.#elapsedMs / WINDOW_MS;
    this.#share =
      this.#leastLagMs > LAG_MS
        ? Math.max(LEAST_SHARE, this.#share * DECREASE ** windows)
        : Math.min(1, this.#share + INCREASE * windows);
    const wasLasting = this.isLasting;
    this.#lastedMs = this.#share < 1 || this.#heapFull ? this.#lastedMs + this.#elapsedMs : 0;
    if (this.isLasting && !wasLasting) {
      const details = { lagMs: Math.round(this.#leastLagMs), heapFull: this.#heapFull };
      this.#logger.warn(
        { ...details, share: this.#share },
        'overloaded: not ready, part of the work is refused',
      );
    } else if (wasLasting && !this.isLasting) this.#logger.info('no longer overloaded');
    this.#elapsedMs = 0;
    this.#leastLagMs = Number.POSITIVE_INFINITY;
    metrics.workAccepted.set(this.#heapFull ? 0 : this.#share);
  }
}
