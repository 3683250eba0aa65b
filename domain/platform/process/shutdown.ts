import type { Logger } from '../observe/logger.js';

interface Step {
  name: string;
  run: () => Promise<void> | void;
}

/** An ordered stop: steps share one deadline; a step that fails is logged, and the next one runs. */
export class Shutdown {
  readonly #logger: Logger;
  readonly #deadlineMs: number;
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  /** @param deadlineMs time for all steps together */
  constructor(logger: Logger, deadlineMs: number) {
    this.#logger = logger;
    this.#deadlineMs = deadlineMs;
  }

  /** True from the start of the stop: /readyz fails, nothing new is accepted. */
  get draining(): boolean {
    return this.#running !== undefined;
  }

  /** Steps run one after another in the order they were added. */
  add(name: string, run: Step['run']): void {
    this.#steps.push({ name, run });
  }

  /** Starts the stop, once; resolves when every step has succeeded or failed. */
  begin(reason: string): Promise<void> {
    this.#running ??= this.#runAll(reason);
    return this.#running;
  }

  async #runAll(reason: string): Promise<void> {
    this.#logger.info({ reason }, 'stopping');
    const endsAt = performance.now() + this.#deadlineMs;
    for (const step of this.#steps) await this.#runStep(step, endsAt);
    this.#logger.info('stopped');
  }

  /** @param endsAt by performance.now(): a clock that is set back must not delay the end */
  async #runStep({ name, run }: Step, endsAt: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('out of time')), Math.max(1, endsAt - performance.now()));
    });
    try {
      await Promise.race([Promise.resolve().then(run), late]);
    } catch (error) {
      this.#logger.error({ err: error, step: name }, 'a step of the stop failed');
    } finally {
      clearTimeout(timer);
    }
  }
}

const STOPPING = ['SIGTERM', 'SIGINT'] as const;

/** Nothing is open yet. */
const endAtOnce = () => process.exit(0);

/**
 * Ends the process on SIGTERM and SIGINT until `stopOnSignals` does. Call it before loading what takes long: the first process
 * of a container does not receive a signal that it has no handler for.
 */
export function endOnSignals(): void {
  for (const signal of STOPPING) process.on(signal, endAtOnce);
}

/** npm passes Ctrl-C on to a process that the terminal has told already: SIGINT again within this time is the same one, ms. */
const SAME_INTERRUPT_MS = 1_000;

/**
 * Stops on SIGTERM and SIGINT; a second signal ends the process at once. An unhandled rejection is logged and
 * counted only: one faulty request must not end all connections (contract, promise 7). After an uncaught
 * exception the process's state is unknown: it stops in order and exits with 1.
 *
 * @param onUnexpected called for each unhandled rejection or uncaught exception
 */
export function stopOnSignals(shutdown: Shutdown, logger: Logger, onUnexpected: () => void): void {
  let interruptedAt = Number.NEGATIVE_INFINITY;
  for (const signal of STOPPING) {
    process.off(signal, endAtOnce);
    process.on(signal, () => {
      if (!shutdown.draining) {
        if (signal === 'SIGINT') interruptedAt = performance.now();
        void shutdown.begin(signal).then(() => process.exit(0));
        return;
      }
      if (signal === 'SIGINT' && performance.now() - interruptedAt < SAME_INTERRUPT_MS) return;
      logger.warn({ signal }, 'second signal: ending now');
      process.exit(1);
    });
  }
  process.on('unhandledRejection', (error) => {
    onUnexpected();
    logger.error({ err: error }, 'unhandled rejection');
  });
  process.on('uncaughtException', (error) => {
    onUnexpected();
    logger.fatal({ err: error }, 'uncaught exception');
    void shutdown.begin('uncaught exception').then(() => process.exit(1));
  });
}
