import type { Logger } from '../observe/logger.js';
import type { RedisConnection } from '../redis/connection.js';
import type { Reports } from '../redis/reports.js';
import { leaveDuty, takeDuty } from './duty.model.js';
import { livingProcesses } from './heartbeat.model.js';

/** How often the process on duty reads which processes run, and the others look whether one is on duty, ms. */
const LOOK_EVERY_MS = 2_000;

interface DutyDeps {
  /** Under which this process beats. */
  name: string;
  reports: Reports;
  redis: Pick<RedisConnection, 'down'>;
  logger: Logger;
}

/**
 * One process at a time is on duty: it alone looks into the database for what a crash may have left, and tells the
 * others. The database decides which one (duty.model.ts); the others read it only while none calls the roll. A dead
 * one is replaced once it counts as dead (heartbeat.model.ts): until then each process looks for itself.
 */
export class Duty {
  readonly #deps: DutyDeps;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;

  constructor(deps: DutyDeps) {
    this.#deps = deps;
  }

  start(): void {
    const look = () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    };
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
    look();
  }

  /** Leaves the duty to another process. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    // Where the database is gone, another takes the duty once this process's heartbeats are old.
    await this.#leave().catch(() => {});
  }

  async #look(): Promise<void> {
    const { name, reports, redis, logger } = this.#deps;
    try {
      // Nobody would hear the roll.
      if (redis.down) await this.#leave();
      else if (reports.isOnDuty || !reports.hasRoll) {
        if (await takeDuty(name)) reports.callRoll(await livingProcesses());
        else reports.endDuty();
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        logger.warn({ err: error }, 'the process on duty could not be determined; retrying');
      this.#isFailing = true;
    }
  }

  async #leave(): Promise<void> {
    if (!this.#deps.reports.isOnDuty) return;
    await leaveDuty(this.#deps.name);
    this.#deps.reports.endDuty();
  }
}
