import { AppError } from '../../kernel/errors.js';
import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';
import { oldSpaceShare } from './heap.js';

/** What can be refused: REST requests, connects of sockets, their events. */
type Work = 'request' | 'connect' | 'event';

/** How busy a process is. */
interface Strain {
  /** How much later than due a timer ran, ms: what is read from a connection has waited as long. */
  lagMs: number;
  /** What is used of the heap, new objects left out, as a share of its limit. */
  heap: number;
}

/** Interval of the samples, ms. */
const SAMPLE_MS = 20;

/**
 * Interval of the decisions, ms. What is true for less than half of it, for example because of the garbage collector, is no
 * overload. (CoDel, RFC 8289, waits as long)
 */
const WINDOW_MS = 100;

/** With more pieces of work in progress than this there is a queue. Work with a queue of its own does not count. */
export const QUEUE = 16;

/** The limit of pieces under way is multiplied by this in each window in which they are done in time, until it is MOST. */
const INCREASE = 1.1;
const MOST = 1_000;

/** A process is busy with its own start until this time after it, ms: that is no load of clients. */
const STARTING_MS = 2_000;

/** Shares of the heap's limit: from the first on nothing is taken on, until less than the second is used. */
export const HEAP_FULL = 0.9;
const HEAP_FREE = 0.85;

/** Time of overload, ms, after which a process reports that it is not ready, and time without after which it is. */
const LASTING_MS = 2_000;

/** What a process says that refuses work, or is not ready, for its load alone. */
export const OVERLOADED = 'this process is overloaded';

/** Clients that are refused wait this long, ms, each another time, so that they do not come back together. */
const RETRY_MS = [1_000, 5_000] as const;

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** What happens from one decision to the next. */
const newWindow = () => ({
  startedAt: performance.now(),
  lags: [] as number[],
  mostUnderWay: 0,
  takenOn: 0,
  refused: 0,
  /** How long there was a queue, the time that all pieces spent in it, ms, and how many were done meanwhile. */
  queueMs: 0,
  spentMs: 0,
  done: 0,
});

/**
 * Sheds load: while work takes too long, only as many pieces may be under way at once as are done in time, and the rest is
 * refused. By Little's law what a piece takes is how many are under way, divided by their throughput. (fault 47)
 */
export class Overload {
  readonly #logger: Logger;
  readonly #targetMs: number;
  /** Up to this many pieces in progress are not a queue: this many are always accepted. */
  readonly #always: number;
  /** Pieces of work in progress, and since when that number has not changed. */
  #underWay = 0;
  #changedAt = performance.now();
  /** Pieces that may be under way at once. */
  #limit = Number.POSITIVE_INFINITY;
  #heapFull = false;
  /** Turns of the event loop, and pieces taken on in this one: those that wait for nothing are under way no longer. */
  #turn = 0;
  #inTurn = 0;
  #window = newWindow();
  /** How long there has been overload, up to LASTING_MS; it falls as fast as it rises. */
  #lastedMs = 0;
  #isLasting = false;

  /**
   * @param targetMs longest time for a piece of work, and for a turn of the event loop, ms
   * @param ownQueues places in the queues that work of some kinds has of its own, such as searches: were they all taken,
   *   little else would be taken on
   */
  constructor(logger: Logger, targetMs: number, ownQueues = 0) {
    this.#logger = logger;
    this.#targetMs = targetMs;
    this.#always = QUEUE + ownQueues;
    metrics.workAccepted.set(1);
  }

  /** Starts to sample this process. @returns a function that stops it */
  watch(): () => void {
    const servesFrom = performance.now() + STARTING_MS;
    let dueAt = performance.now() + SAMPLE_MS;
    const timer = setInterval(() => {
      const now = performance.now();
      const lagMs = Math.max(0, now - dueAt);
      dueAt = now + SAMPLE_MS;
      if (now >= servesFrom) this.sample({ lagMs, heap: oldSpaceShare() });
    }, SAMPLE_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Whether there has been overload for so long that clients are better served elsewhere. */
  get isLasting(): boolean {
    return this.#isLasting;
  }

  /**
   * Decides whether a piece of work is taken on. To be asked as early as possible.
   * @returns the answer to work that is not: SERVICE_UNAVAILABLE with a waiting time
   */
  refuse(work: Work): AppError | undefined {
    if (this.#takes(work)) return undefined;
    this.#window.refused += 1;
    metrics.workRefused.inc({ work });
    const [least, most] = RETRY_MS;
    const retryAfterMs = Math.round(least + Math.random() * (most - least));
    return new AppError('SERVICE_UNAVAILABLE', OVERLOADED, { retryAfterMs });
  }

  /**
   * Counts a use case as under way until it is done: most of its time it waits for the database. Not the reading of a
   * request, whose time is the client's, nor a wait behind others of the same connection.
   */
  async follow<R>(useCase: Promise<R>): Promise<R> {
    this.#change(1);
    const turn = this.#turn;
    try {
      return await useCase;
    } finally {
      // Pieces that waited for nothing are so numerous that they would hide how long the others wait.
      if (this.#underWay >= this.#always && turn !== this.#turn) this.#window.done += 1;
      this.#change(-1);
    }
  }

  /** Begins or ends a piece of work. */
  #change(by: 1 | 0 | -1): void {
    const now = performance.now();
    if (this.#underWay >= this.#always) {
      this.#window.queueMs += now - this.#changedAt;
      this.#window.spentMs += (now - this.#changedAt) * this.#underWay;
    }
    this.#changedAt = now;
    this.#underWay += by;
  }

  #takes(work: Work): boolean {
    const underWay = Math.max(this.#underWay, this.#inTurn);
    // Each connect brings more work.
    const limit = work === 'connect' ? this.#limit / 2 : this.#limit;
    if (this.#heapFull || underWay >= limit) return false;
    if (this.#inTurn === 0) setImmediate(() => this.#endTurn());
    this.#inTurn += 1;
    this.#window.takenOn += 1;
    this.#window.mostUnderWay = Math.max(this.#window.mostUnderWay, underWay + 1);
    return true;
  }

  #endTurn(): void {
    this.#turn += 1;
    this.#inTurn = 0;
  }

  /** Takes a sample into account; `watch` takes one every SAMPLE_MS. */
  sample({ lagMs, heap }: Strain): void {
    this.#heapFull = heap >= (this.#heapFull ? HEAP_FREE : HEAP_FULL);
    this.#window.lags.push(lagMs);
    if (performance.now() - this.#window.startedAt >= WINDOW_MS) this.#endWindow();
  }

  /** How long work waited in the window, ms: until it was read, and under way; 0 for what was so for less than half of it. */
  #waits(elapsedMs: number): { lagMs: number; queuedMs: number } {
    this.#change(0);
    const { lags, queueMs, spentMs, done } = this.#window;
    // A lag as long as the window is most of it.
    const longest = Math.max(...lags);
    return {
      lagMs: longest >= WINDOW_MS ? longest : median(lags),
      queuedMs: queueMs > elapsedMs / 2 ? spentMs / Math.max(1, done) : 0,
    };
  }

  /** Sets the limit by what work took in the window. */
  #endWindow(): void {
    const { startedAt, mostUnderWay, takenOn, refused } = this.#window;
    const elapsedMs = performance.now() - startedAt;
    const waits = this.#waits(elapsedMs);
    const waitMs = Math.max(waits.lagMs, waits.queuedMs);
    const isLate = waitMs > this.#targetMs;
    if (isLate) {
      const most = Math.min(this.#limit, mostUnderWay);
      this.#limit = Math.max(this.#always, most * (this.#targetMs / waitMs));
    } else {
      this.#limit *= INCREASE ** (elapsedMs / WINDOW_MS);
      if (this.#limit > MOST) this.#limit = Number.POSITIVE_INFINITY;
    }
    this.#judge(isLate || refused > 0 || this.#heapFull, elapsedMs, waits);
    const asked = takenOn + refused;
    metrics.workAccepted.set(this.#heapFull ? 0 : asked ? takenOn / asked : 1);
    this.#window = newWindow();
  }

  /** Notes how long there has been overload, and logs when that changes readiness. */
  #judge(isOverloaded: boolean, elapsedMs: number, waits: { lagMs: number; queuedMs: number }): void {
    const lastedMs = this.#lastedMs + (isOverloaded ? elapsedMs : -elapsedMs);
    this.#lastedMs = Math.min(LASTING_MS, Math.max(0, lastedMs));
    if (!this.#isLasting && this.#lastedMs === LASTING_MS) {
      this.#isLasting = true;
      const [lagMs, queuedMs] = [Math.round(waits.lagMs), Math.round(waits.queuedMs)];
      this.#logger.warn(
        { lagMs, queuedMs, limit: Math.round(this.#limit), heapFull: this.#heapFull },
        'overloaded: not ready, part of the work is refused',
      );
    } else if (this.#isLasting && this.#lastedMs === 0) {
      this.#isLasting = false;
      this.#logger.info('no longer overloaded');
    }
  }
}
