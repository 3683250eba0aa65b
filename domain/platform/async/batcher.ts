interface Entry<T, R> {
  item: T;
  resolve(result: R | Promise<R>): void;
  reject(error: unknown): void;
}

type Result<R> = R | Error | Promise<R>;

/**
 * Runs what is added during one turn of the event loop as one batch, so that cost per item falls as load
 * rises. A batch starts with the next turn, or when one of `concurrency` running batches ends: at low load
 * nothing waits for a batch to fill.
 */
export class Batcher<T, R> {
  readonly #run: (items: T[]) => Promise<Result<R>[]>;
  readonly #size: number;
  readonly #concurrency: number;
  #waiting: Entry<T, R>[] = [];
  #running = 0;
  #scheduled = false;
  #whenIdle: (() => void)[] = [];

  /**
   * @param run called with the items in the order they were added; its results are in the same order. An
   *   Error in place of a result fails that item, a promise settles it later, a rejection fails all items.
   * @param limits largest batch, and batches at once
   */
  constructor(run: (items: T[]) => Promise<Result<R>[]>, limits: { size: number; concurrency: number }) {
    this.#run = run;
    this.#size = limits.size;
    this.#concurrency = limits.concurrency;
  }

  /** Items whose batch has not started. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves to the item's result. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Adds items before those that wait, for a batch that has to retry some of its own. */
  addFirst(items: T[]): Promise<R>[] {
    const later = this.#waiting;
    this.#waiting = [];
    const added = items.map((item) => this.add(item));
    this.#waiting = this.#waiting.concat(later);
    return added;
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#running < this.#concurrency) {
        void this.#runBatch(this.#waiting.splice(0, this.#size));
      }
    });
  }

  async #runBatch(batch: Entry<T, R>[]): Promise<void> {
    this.#running += 1;
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result instanceof Error) reject(result);
        else resolve(result as R | Promise<R>);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#running -= 1;
    this.#schedule();
    if (this.#isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0;
  }

  /** Resolves when nothing waits or runs. */
  idle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
