import type { Logger } from './logger.js';

type Step = { name: string; run: () => Promise<void> | void };

export interface Shutdown {
  /** True from the first signal on: readiness says so, nothing new is taken in. */
  readonly draining: boolean;
  /** Adds a step. Steps run one after another in the order they were added. */
  add(name: string, run: Step['run']): void;
  /** Starts the stop (once) and resolves when every step has run or failed. */
  begin(reason: string): Promise<void>;
}

/**
 * An ordered stop: each step gets what is left of one deadline; a step that fails is logged and the
 * next one runs all the same.
 *
 * @param deadlineMs time for all steps together, in ms
 */
export function createShutdown(logger: Logger, deadlineMs: number): Shutdown {
  const steps: Step[] = [];
  let running: Promise<void> | undefined;

  async function runStep({ name, run }: Step, endsAt: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('out of time')), Math.max(1, endsAt - Date.now()));
    });
    try {
      await Promise.race([Promise.resolve().then(run), late]);
    } catch (error) {
      logger.error({ err: error, step: name }, 'a step of the stop failed');
    } finally {
      clearTimeout(timer);
    }
  }

  async function runAll(reason: string): Promise<void> {
    logger.info({ reason }, 'stopping');
    const endsAt = Date.now() + deadlineMs;
    for (const step of steps) await runStep(step, endsAt);
    logger.info('stopped');
  }

  return {
    get draining() {
      return running !== undefined;
    },
    add(name, run) {
      steps.push({ name, run });
    },
    begin(reason) {
      running ??= runAll(reason);
      return running;
    },
  };
}

/**
 * Stops on SIGTERM and SIGINT; a second signal ends the process at once.
 * A promise nobody awaited is logged and counted, and the process lives on: one client's mistake
 * must not end everybody's connection (contract, promise 7). After an exception nobody caught the
 * process cannot be trusted: it drains and exits 1.
 */
export function stopOnSignals(shutdown: Shutdown, logger: Logger, onUnexpected: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (shutdown.draining) {
        logger.warn({ signal }, 'second signal: ending now');
        process.exit(1);
      }
      void shutdown.begin(signal).then(() => process.exit(0));
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
