import { setTimeout as sleep } from 'node:timers/promises';
import { redisChannels, redisKeys } from '../kernel/redis-keys.js';
import { joinNext } from '../platform/async/shared-runs.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { LossWatch } from '../platform/redis/loss-watch.js';
import type { PresenceTimes } from './presence-times.js';

/** Time in which all processes have written their members again, ms. */
const RESTORED_AFTER_MS = 500;

/** Pause after a refresh for evictions, as a multiple of its duration: keys of others may be evicted all the time. */
const PAUSE = 9;

/**
 * Times at which Redis may lack members of any process: after an outage, a time in which it stored nothing, a flush, a failover to a
 * replica without the data, and evictions. Each group of rooms has a mark, which never expires: where it is missing, so are the
 * rooms, and the first process that notices it tells all others. Evictions each process notices by itself.
 */
export class PresenceInterruptions {
  readonly #redis: RedisConnection;
  readonly #graceMs: number;
  readonly #refresh: () => Promise<void>;
  readonly #onEmptied: () => void;
  readonly #stopListening: (() => void)[];
  readonly #losses: LossWatch;
  #graceTimer: NodeJS.Timeout | undefined;
  /** Whether the refresh after the grace is still to come. */
  #isGrace = false;
  #at = performance.now();
  #lostAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  /**
   * @param times.grace time in which other processes, too, have written their members again, ms
   * @param refresh writes this process's members again; called at once, and after the grace
   * @param onEmptied called before that if Redis has lost everything, removals included
   */
  constructor(
    redis: RedisConnection,
    times: Pick<PresenceTimes, 'grace' | 'lookEvery'>,
    refresh: () => Promise<void>,
    onEmptied: () => void,
  ) {
    this.#redis = redis;
    this.#graceMs = times.grace;
    this.#refresh = refresh;
    this.#onEmptied = onEmptied;
    this.#stopListening = [
      redis.on('up', () => {
        void this.#restore();
        void this.#mark();
      }),
      redis.on('stores', () => void this.#restore()),
      redis.listen(
        'messageBuffer',
        (channel) => channel === redisChannels.presenceLost,
        () => this.#onLoss(),
      ),
    ];
    void redis.subscriber().subscribe(redisChannels.presenceLost);
    const marks = redisKeys.presenceMarks();
    const onLoss = () => void this.#mark();
    this.#losses = new LossWatch(
      { redis, marks, onLoss, onEviction: () => this.noteEviction() },
      times.lookEvery,
    );
    void this.#mark();
  }

  /** When the last one ended (performance.now()). */
  get at(): number {
    return this.#at;
  }

  /** Whether the grace after it is over. Without memory presence is written all the same (presence-store.ts). */
  get isOver(): boolean {
    const { refusal } = this.#redis;
    return performance.now() - this.#at >= this.#graceMs && (refusal === undefined || refusal === 'OOM');
  }

  /** There was one just now. */
  note(): void {
    this.#at = performance.now();
  }

  /** A mark was missing. */
  tellLoss(): void {
    this.#onLoss();
    void this.#redis.publish(redisChannels.presenceLost, '');
  }

  /** Redis has evicted keys. */
  noteEviction(): void {
    this.#redis.noteLoss();
    void this.#afterEvictions();
  }

  /** It may go on for hours: a grace that begins with each would never end, and refreshes would take all the time. */
  readonly #afterEvictions = joinNext<void, void>(async () => {
    if (this.#closed) return;
    const startedAt = performance.now();
    await (this.#isGrace ? this.#refresh() : this.#restore());
    await sleep(PAUSE * (performance.now() - startedAt), undefined, { ref: false });
  });

  /** @returns whether Redis had just lost its data: what it answered before this is not to be relied on */
  async restored(): Promise<boolean> {
    const waitMs = this.#lostAt + RESTORED_AFTER_MS - performance.now();
    if (waitMs <= 0) return false;
    await sleep(waitMs, undefined, { ref: false });
    return true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#graceTimer);
    this.#losses.close();
    for (const stop of this.#stopListening) stop();
    void this.#redis.subscriber().unsubscribe(redisChannels.presenceLost);
  }

  /** Sets the marks that are missing: at the first start all. */
  async #mark(): Promise<void> {
    const answers = await this.#redis.ask((commands) =>
      Promise.all(redisKeys.presenceMarks().map((key) => commands.set(key, 1, 'NX'))),
    );
    if (answers?.includes('OK')) this.tellLoss();
  }

  #onLoss(): void {
    this.#lostAt = performance.now();
    this.#redis.noteLoss();
    this.#onEmptied();
    void this.#restore();
  }

  #restore(): Promise<void> {
    this.note();
    const refreshed = this.#refresh();
    // Once more after the other processes have reconnected: their changes may not have arrived.
    clearTimeout(this.#graceTimer);
    this.#isGrace = true;
    this.#graceTimer = setTimeout(() => {
      this.#isGrace = false;
      void this.#refresh();
    }, this.#graceMs + 1).unref();
    return refreshed;
  }
}
