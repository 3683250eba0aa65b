import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';

/** Errors of a Redis that answers and publishes, but stores nothing: for lack of memory, of a disk or of replicas. */
const UNSTORED = /^(OOM|MISCONF|NOREPLICAS)/;

/** Time, ms, without a refusal after which Redis stores again: at its limit of memory it refuses now and then. */
const STORES_AFTER_MS = 5_000;

/** Whether Redis refuses to store, although it answers and publishes: then processes still reach each other. */
export class StoreRefusals {
  readonly #logger: Logger;
  readonly #onStored: () => void;
  readonly #stopWatching: () => void;
  #current: string | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** @param onStored called when it stores again */
  constructor(logger: Logger, onStored: () => void) {
    this.#logger = logger;
    this.#onStored = onStored;
    this.#stopWatching = metrics.redisStoring.watch(() => (this.#current === undefined ? 1 : 0));
  }

  /** `OOM`, `MISCONF` or `NOREPLICAS` while it refuses. */
  get current(): string | undefined {
    return this.#current;
  }

  /** @returns whether an error is such a refusal */
  note(error: unknown): boolean {
    if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
    const refusal = UNSTORED.exec(error.message)?.[0];
    if (refusal === undefined) return false;
    this.#lastAt = performance.now();
    if (this.#current === undefined)
      this.#logger.warn({ reason: error.message }, 'Redis stores nothing: each process counts alone');
    this.#current = refusal;
    return true;
  }

  /** It has stored something. */
  noteStored(): void {
    if (this.#current === undefined || performance.now() - this.#lastAt < STORES_AFTER_MS) return;
    this.#current = undefined;
    this.#logger.info('Redis stores again');
    this.#onStored();
  }

  close(): void {
    this.#stopWatching();
  }
}
