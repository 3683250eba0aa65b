import type { Logger } from '../platform/logger.js';
import { highestNumber } from '../platform/sequence.model.js';
import { joinNext } from '../platform/shared-runs.js';
import { type IdRange, MissingIds } from './missing-ids.js';
import { type MissedNotification, Notification, readIds, readMissed } from './notification.model.js';

/** Interval between polls, ms. */
const EVERY_MS = 5_000;

/** Time until a poll that was asked for, ms: the next ones that are asked for meanwhile share it. */
const SOON_MS = 50;

/** Most ids read at a time. */
const PAGE = 5_000;

/** Most records read and delivered at a time: the event loop serves others in between. */
const BATCH = 1_000;

/** Most ranges of missing ids in one query. */
const RANGES_PER_QUERY = 100;

const readIdsAfter = (after: number) => readIds({ _id: { $gt: after } }, PAGE);

async function readIdsWithin(ranges: IdRange[]): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < ranges.length; i += RANGES_PER_QUERY) {
    const some = ranges
      .slice(i, i + RANGES_PER_QUERY)
      .map(({ from, to }) => ({ _id: { $gte: from, $lte: to } }));
    found.push(...(await readIds({ $or: some }, PAGE)));
  }
  return found;
}

/**
 * Polls for notifications that were not pushed to this process, such as those of `npm run announce`, so that
 * they reach open streams and sockets within seconds.
 *
 * An id is taken before its record is inserted, and the writer may stall in between: ids that are missing
 * when a higher one is seen are searched for again (missing-ids.ts).
 */
export class MissedPoll {
  readonly #wasDelivered: (id: number) => boolean;
  readonly #deliver: (missed: MissedNotification[]) => Promise<void>;
  readonly #logger: Logger;
  readonly #missing = new MissingIds();
  /** However often a poll is asked for, one waits at most. */
  readonly #poll = joinNext<void, void>(async () => {
    if (this.#stopped) return;
    try {
      await this.#pollOnce();
    } catch (error) {
      this.#logger.warn({ err: error }, 'a poll for missed notifications failed');
    }
  });
  /** The highest id seen. */
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param wasDelivered whether this process has delivered a notification already
   * @param deliver called with those that it has not, in order of their ids
   */
  constructor(
    wasDelivered: (id: number) => boolean,
    deliver: (missed: MissedNotification[]) => Promise<void>,
    logger: Logger,
  ) {
    this.#wasDelivered = wasDelivered;
    this.#deliver = deliver;
    this.#logger = logger;
  }

  /** Notifications stored before are left to the streams, which read them when they open. */
  async start(): Promise<void> {
    // A writer may be stalling already.
    this.#lastId = Math.max(0, (await highestNumber(Notification)) - PAGE);
    this.#advance(await readIdsAfter(this.#lastId));
    this.#timer = setInterval(() => void this.#poll(), EVERY_MS);
  }

  /** Polls without waiting for the interval. */
  pollSoon(): void {
    if (!this.#timer || this.#soon || this.#stopped) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void this.#poll();
    }, SOON_MS);
  }

  /** Resolves when no poll is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#poll();
  }

  async #pollOnce(): Promise<void> {
    const late = await readIdsWithin(this.#missing.ranges(performance.now()));
    await this.#deliverMissed(late);
    for (const id of late) this.#missing.remove(id);
    let ids: number[];
    do {
      ids = await readIdsAfter(this.#lastId);
      await this.#deliverMissed(ids);
      this.#advance(ids);
      // After a full page there may be more: an announcement to everybody.
    } while (ids.length === PAGE && !this.#stopped);
  }

  async #deliverMissed(ids: number[]): Promise<void> {
    const missed = ids.filter((id) => !this.#wasDelivered(id));
    for (let from = 0; from < missed.length; from += BATCH) {
      await this.#deliver(await readMissed(missed.slice(from, from + BATCH)));
    }
  }

  /** Remembers which ids are missing among and before these. */
  #advance(ids: number[]): void {
    const now = performance.now();
    for (const id of ids) {
      this.#missing.add({ from: this.#lastId + 1, to: id - 1 }, now);
      this.#lastId = id;
    }
  }
}
