import type { RoomHead } from '../domain/kernel/live.js';
import type { Logger } from '../domain/platform/logger.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import type { RoomViews } from './room-views.js';
import type { Sequencer } from './sequencer.js';

/** How often a gateway compares its rooms with the database, ms. */
const COMPARE_EVERY_MS = 5_000;

/**
 * The same for a single process, ms. It loses no pushes and looks up writes of unknown outcome
 * (domain/chat/uncertain-rooms.ts); this finds those that the database applied later still.
 */
const COMPARE_ALONE_EVERY_MS = 60_000;

/** Time until the room of a lost push is compared, ms: others may have been lost with it. */
const COMPARE_FILLED_MS = 200;

/** Rooms per query of heads. */
const HEADS_AT_ONCE = 500;

export interface ComparerDeps {
  /** The numbers of these rooms in the database. */
  heads(chatNos: number[]): Promise<RoomHead[]>;
  sequencer: Pick<Sequencer, 'rooms' | 'compare'>;
  views: Pick<RoomViews, 'compare' | 'compareAll'>;
  redis: RedisConnection | undefined;
  logger: Logger;
}

/**
 * Compares the rooms that sockets of this process are in with the database, so that what pub/sub has lost
 * reaches every connected client (contract, promise 5). When Redis is up again, all rooms of all members here
 * are compared, so that those that are not open are updated, too; when pushes to a member were dropped, as during
 * a reload that changes their form or key, all of that member.
 */
export class RoomComparer {
  readonly #deps: ComparerDeps;
  /** Rooms to be compared because a push was lost. */
  readonly #filled = new Set<number>();
  #soon: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #isRunning = false;
  /** Whether the states of all rooms are to be compared. */
  #isAllDue = false;
  /** Members with the next comparison of all their rooms. */
  #due = new Set<number>();

  constructor(deps: ComparerDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { redis } = this.#deps;
    this.#timer = setInterval(() => void this.#run(), redis ? COMPARE_EVERY_MS : COMPARE_ALONE_EVERY_MS);
    this.#stopListening = redis?.on('up', () => {
      this.#isAllDue = true;
      void this.#run();
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
  }

  /** One run at a time; a comparison of all rooms that becomes due meanwhile follows it. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.compare(this.#deps.sequencer.rooms());
      while (this.#isAllDue && this.#timer) {
        this.#isAllDue = false;
        await this.#deps.views.compareAll().catch((error) => {
          this.#isAllDue = true;
          throw error;
        });
      }
      await this.#compareDue();
    } catch (error) {
      this.#warn(error);
    } finally {
      this.#isRunning = false;
    }
  }

  async compare(chatNos: number[]): Promise<void> {
    const { heads, sequencer, views } = this.#deps;
    for (let i = 0; i < chatNos.length; i += HEADS_AT_ONCE) {
      for (const head of await heads(chatNos.slice(i, i + HEADS_AT_ONCE))) {
        if (sequencer.compare(head)) views.compare(head);
      }
    }
  }

  /** A push to the member was dropped: all their rooms are compared, with the next regular comparison. */
  compareMember(memberNo: number): void {
    this.#due.add(memberNo);
  }

  async #compareDue(): Promise<void> {
    const due = this.#due;
    if (due.size === 0 || !this.#timer) return;
    this.#due = new Set();
    await this.#deps.views.compareAll([...due]).catch((error) => {
      for (const memberNo of due) this.#due.add(memberNo);
      throw error;
    });
  }

  /** Compares the room of a lost push; one such comparison at a time, however slow the database is. */
  compareSoon(chatNo: number): void {
    this.#filled.add(chatNo);
    this.#soon ??= setTimeout(() => void this.#compareFilled(), COMPARE_FILLED_MS).unref();
  }

  async #compareFilled(): Promise<void> {
    const chatNos = [...this.#filled];
    this.#filled.clear();
    await this.compare(chatNos).catch((error) => this.#warn(error));
    this.#soon = undefined;
    for (const chatNo of this.#filled) this.compareSoon(chatNo);
  }

  #warn(error: unknown): void {
    this.#deps.logger.warn({ err: error }, 'rooms were not compared with the database; retrying soon');
  }
}
