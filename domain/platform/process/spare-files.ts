import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';

/** Files kept for the process itself: connections to the database and Redis, logs. */
const KEPT = 64;

/** Every n-th accepted connection is checked. Less than the number of files kept. */
const CHECK_EVERY = 16;

/** Connections refused within this time of each other are logged once, ms. */
const EPISODE_MS = 60_000;

const REMEDY = 'raise LimitNOFILE of the unit or ulimit -n and restart, or add processes';

/** No file is left to the process, or to the machine. */
const isUsedUp = (error: unknown) =>
  ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/** How many files this process may open, where the system tells. (proc(5), limits) */
function fileLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The lowest number that no open file has: all below are taken. Infinity if no file can be opened. */
function nextFile(): number {
  try {
    const file = openSync('/dev/null', 'r');
    closeSync(file);
    return file;
  } catch (error) {
    if (isUsedUp(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** When this process last refused a connection for lack of files, whichever of its ports it was. */
let lastRefusedAt = Number.NEGATIVE_INFINITY;

/**
 * Watches the files of this process for one of its ports. A process that has used them all up can accept nothing: libuv closes new
 * connections without a word, and uWebSockets.js tries again for ever, with all the CPU it gets.
 */
export class SpareFiles {
  readonly #logger: Logger;
  readonly #limit: number;
  #accepted = 0;
  #isShort = false;

  /** @param limit how many files this process may open */
  constructor(logger: Logger, limit = fileLimit()) {
    this.#logger = logger;
    this.#limit = limit;
  }

  /** Call it for each accepted connection. @returns whether it must be closed at once */
  refuses(): boolean {
    this.#accepted += 1;
    if (this.#isShort || this.#accepted % CHECK_EVERY === 0) this.#isShort = nextFile() >= this.#limit - KEPT;
    if (this.#isShort)
      this.#refused(`this process has fewer than ${KEPT} files left of the ${this.#limit} that it may open`);
    return this.#isShort;
  }

  /** The `error` of a listening server. Unhandled, it would end the process. */
  acceptFailed(error: Error): void {
    if (isUsedUp(error)) this.#refused(`no file is left to accept a connection (${error.message})`);
    else this.#logger.error({ err: error }, 'a connection could not be accepted');
  }

  #refused(reason: string): void {
    metrics.limitHits.inc({ limit: 'files' });
    const now = performance.now();
    if (now - lastRefusedAt > EPISODE_MS)
      this.#logger.warn(`${reason}: new connections are closed at once until some are free; ${REMEDY}`);
    lastRefusedAt = now;
  }
}
