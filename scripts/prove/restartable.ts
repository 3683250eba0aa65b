import { setTimeout as sleep } from 'node:timers/promises';
import { GroupEnded, type ManagedProcess } from '../load/process-group.js';

/** Pause, ms, before a process that could not start is started again, as a process manager does. */
const RETRY_MS = 500;

/** Longest time, ms, until a process is ready after its start; the database or Redis may be away meanwhile, again and again. */
const READY_WITHIN_MS = 120_000;

/** The same for its first start, which nothing disturbs: it fails soon where it cannot start. */
const FIRST_READY_WITHIN_MS = 45_000;

/** Longest time, ms, for a process to end by itself: longer than that of the service (SHUTDOWN_TIMEOUT_MS). */
const STOP_MS = 15_000;

/** A process that faults end and start again. */
export class Restartable {
  readonly name: string;
  readonly #launch: (env: Record<string, string>) => Promise<ManagedProcess>;
  readonly #isReady: () => Promise<boolean>;
  #process: ManagedProcess | undefined;

  /**
   * @param launch starts it, with these settings beside its own; resolves when it runs
   * @param isReady whether it can serve
   */
  constructor(
    name: string,
    launch: (env: Record<string, string>) => Promise<ManagedProcess>,
    isReady: () => Promise<boolean> = async () => true,
  ) {
    this.name = name;
    this.#launch = launch;
    this.#isReady = isReady;
  }

  get pid(): number {
    return (this.#process as ManagedProcess).pid;
  }

  get running(): boolean {
    return this.#process !== undefined && !this.#process.exited;
  }

  /** Starts it until it runs and is ready. @throws Error with its stderr if time is up; GroupEnded */
  async start(env: Record<string, string> = {}): Promise<void> {
    const withinMs = this.#process ? READY_WITHIN_MS : FIRST_READY_WITHIN_MS;
    const deadline = performance.now() + withinMs;
    for (;;) {
      try {
        this.#process = await this.#launch(env);
        break;
      } catch (error) {
        if (error instanceof GroupEnded || performance.now() > deadline) throw error;
        await sleep(RETRY_MS);
      }
    }
    await this.ready(withinMs);
  }

  /** Resolves when it can serve. @throws Error with its stderr if it exits or time is up */
  async ready(withinMs = READY_WITHIN_MS): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await this.#isReady())) {
      if (!this.running) throw new Error(`${this.name} exited before it was ready: ${this.#process?.stderr}`);
      if (performance.now() > deadline)
        throw new Error(`${this.name} is not ready: ${this.#process?.stderr}`);
      await sleep(50);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  /** Ends it by a signal, and by SIGKILL if it takes too long. Resolves when it has exited. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const timer = setTimeout(() => this.signal('SIGKILL'), STOP_MS);
    await this.#process?.kill(signal);
    clearTimeout(timer);
  }
}
