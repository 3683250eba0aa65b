import type { RoomHead } from '../../domain/kernel/live.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import type { Reports, Writes } from '../../domain/platform/redis/reports.js';
import type { RoomViews } from './room-views.js';
import type { Sequencer } from './sequencer.js';

/** How often a gateway compares its rooms with the database while it cannot rely on reports, ms. */
const COMPARE_EVERY_MS = 5_000;

/** How often it looks whether it can, ms: a first comparison follows at once. */
const CHECK_EVERY_MS = 1_000;

/** Checks until a reported room is compared: its pushes may be on their way. */
const PATIENCE = 3;

/**
 * The same for a single process, ms. It loses no pushes and looks up writes of unknown outcome
 * (domain/chat/uncertain-rooms.ts); this finds those that the database applied later still.
 */
const COMPARE_ALONE_EVERY_MS = 60_000;

/** Time until a room that needs a look is compared, ms: others may need one, too, as when several pushes were lost. */
const COMPARE_SOON_MS = 200;

/** Rooms per query of heads. */
const HEADS_AT_ONCE = 500;

export interface ComparerDeps {
  /** The numbers of these rooms in the database. */
  heads(chatNos: number[]): Promise<RoomHead[]>;
  sequencer: Pick<Sequencer, 'rooms' | 'has' | 'compare'>;
  views: Pick<RoomViews, 'compare' | 'compareAll'>;
  redis: RedisConnection | undefined;
  /** What other processes write; without them, rooms are compared with the database regularly. */
  reports: Pick<Reports, 'completeSince' | 'onReport'> | undefined;
  logger: Logger;
}

/** The room's numbers that two processes know together: each may lack what the other one wrote. */
function mergeHeads(one: RoomHead, two: RoomHead | undefined): RoomHead {
  if (!two) return one;
  const reads = one.reads.map((read) => {
    const other = two.reads.find(({ memberNo }) => memberNo === read.memberNo);
    return other && other.seq > read.seq ? other : read;
  });
  return { chatNo: one.chatNo, seq: Math.max(one.seq, two.seq), reads };
}

/**
 * Finds what pub/sub has lost, so that it reaches every connected client (contract, promise 5). The rooms that sockets of
 * this process are in are compared with what the other processes report that they wrote. They are compared with the
 * database unless all processes report, and where a writer, this process included, does not know whether it has written.
 * When Redis is up again, all rooms of all members here are compared, so that those that are not open are
 * updated, too; when pushes to a member were dropped, as during a reload that changes their form or key, all of that
 * member.
 */
export class RoomComparer {
  readonly #deps: ComparerDeps;
  /** Rooms to be compared soon: a push was lost, a writer does not know what it stored, or somebody is entering. */
  readonly #needed = new Set<number>();
  #soon: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: ((() => void) | undefined)[] = [];
  #isRunning = false;
  /** When the last complete comparison of open rooms began (performance.now()). */
  #comparedAt = Number.NEGATIVE_INFINITY;
  /** When one of single rooms last failed (performance.now()). */
  #failedAt = Number.NEGATIVE_INFINITY;
  /** The highest numbers of open rooms by other processes, those of one check together, the latest first. */
  #reported: Map<number, RoomHead>[] = [new Map()];
  /** Whether the states of all rooms are to be compared. */
  #isAllDue = false;
  /** Members with the next comparison of all their rooms. */
  #due = new Set<number>();

  constructor(deps: ComparerDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { redis, reports } = this.#deps;
    const everyMs = redis ? COMPARE_EVERY_MS : COMPARE_ALONE_EVERY_MS;
    let waitedMs = 0;
    this.#timer = setInterval(() => {
      waitedMs += CHECK_EVERY_MS;
      this.#compareReported();
      if (waitedMs < everyMs || !this.#isDue) return;
      waitedMs = 0;
      void this.#run();
    }, CHECK_EVERY_MS);
    this.#stopListening = [
      reports?.onReport((report) => this.#heed(report)),
      redis?.on('up', () => {
        this.#isAllDue = true;
        void this.#run();
      }),
    ];
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const stop of this.#stopListening) stop?.();
  }

  get #isDue(): boolean {
    const hasFailed = this.#failedAt > this.#comparedAt;
    const hasDue = this.#isAllDue || this.#due.size > 0;
    return hasFailed || hasDue || !this.#deps.reports?.completeSince(this.#comparedAt);
  }

  #heed({ rooms, unsure }: Writes): void {
    const { sequencer } = this.#deps;
    const [latest] = this.#reported as [Map<number, RoomHead>];
    for (const room of rooms) {
      if (sequencer.has(room.chatNo)) latest.set(room.chatNo, mergeHeads(room, latest.get(room.chatNo)));
    }
    for (const chatNo of unsure) if (sequencer.has(chatNo)) this.compareSoon(chatNo);
  }

  #compareReported(): void {
    this.#reported.unshift(new Map());
    if (this.#reported.length <= PATIENCE) return;
    for (const head of this.#reported.pop()?.values() ?? []) this.#compareHead(head);
  }

  #compareHead(head: RoomHead): void {
    const { sequencer, views } = this.#deps;
    if (sequencer.compare(head)) views.compare(head);
    // Somebody is entering: what they have read may be older.
    else if (sequencer.has(head.chatNo)) this.compareSoon(head.chatNo);
  }

  /** One run at a time; a comparison of all rooms that becomes due meanwhile follows it. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      const startedAt = performance.now();
      await this.compare(this.#deps.sequencer.rooms());
      this.#comparedAt = startedAt;
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
    for (let i = 0; i < chatNos.length; i += HEADS_AT_ONCE) {
      for (const head of await this.#deps.heads(chatNos.slice(i, i + HEADS_AT_ONCE))) this.#compareHead(head);
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

  /** Compares the room with the database; one such comparison at a time, however slow that is. */
  compareSoon(chatNo: number): void {
    this.#needed.add(chatNo);
    this.#soon ??= setTimeout(() => void this.#compareNeeded(), COMPARE_SOON_MS).unref();
  }

  async #compareNeeded(): Promise<void> {
    const chatNos = [...this.#needed];
    this.#needed.clear();
    await this.compare(chatNos).catch((error) => {
      this.#failedAt = performance.now();
      this.#warn(error);
    });
    this.#soon = undefined;
    for (const chatNo of this.#needed) this.compareSoon(chatNo);
  }

  #warn(error: unknown): void {
    this.#deps.logger.warn({ err: error }, 'rooms were not compared with the database; retrying soon');
  }
}
