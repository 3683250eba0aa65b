/** Assembles the domain layer: creates the areas, connects them, starts and stops them. */
import { createAdoption } from './adoption/index.js';
import { createChat, createChatState } from './chat/index.js';
import { allChecks } from './checks.js';
import { createCommunity } from './community/index.js';
import { DriftWatch } from './drift-watch.js';
import { type Clock, systemClock } from './kernel/clock.js';
import { createEventBus } from './kernel/events.js';
import type { Live } from './kernel/live.js';
import { createLocalDateTime } from './kernel/local-date-time.js';
import { createMembers } from './members/index.js';
import { createNotifications } from './notifications/index.js';
import { createTurns } from './platform/async/turns.js';
import { Duty } from './platform/cluster/duty.js';
import { startBeating, uniqueProcessName } from './platform/cluster/heartbeat.model.js';
import { watchDataClock } from './platform/mongo/data-clock.js';
import { databaseTime, estimatedDatabaseTime } from './platform/mongo/database-time.js';
import type { Logger } from './platform/observe/logger.js';
import { metrics } from './platform/observe/metrics.js';
import { Overload } from './platform/process/overload.js';
import { createQuotas, createRateLimits } from './platform/rate-limits/index.js';
import type { RedisConnection } from './platform/redis/connection.js';
import { Reports } from './platform/redis/reports.js';
import type { Config } from './platform/settings/config.js';
import { resendAfterOutages } from './resend-after-outages.js';
import { createSweeps } from './sweeps.js';

export interface DomainOptions {
  config: Config;
  logger: Logger;
  /** The port to sockets. */
  live: Live;
  /** What processes share; without it, this process is alone. */
  redis?: RedisConnection | undefined;
  clock?: Clock;
}

/** Searches that wait for their turn, each for the length of a few searches. */
export const MAX_WAITING_SEARCHES = 8;

/** How many searches run or wait for their turn at most; with limits off, they have no queue. */
const placesOfSearches = ({ SEARCHES_AT_ONCE }: Config): number =>
  Number.isFinite(SEARCHES_AT_ONCE) ? SEARCHES_AT_ONCE + MAX_WAITING_SEARCHES : 0;

/** Used by REST, event streams, sockets and commands alike; needs a connected database (platform/mongo). */
export async function createDomain(options: DomainOptions) {
  const { config, logger, live, redis, clock = systemClock } = options;
  const events = createEventBus();
  const localTime = createLocalDateTime(config.TIME_ZONE);
  const members = await createMembers(config, clock, logger);
  const { directory } = members;
  const quotas = createQuotas(config, redis);
  const adoption = createAdoption({ clock });
  const searches = createTurns(config.SEARCHES_AT_ONCE, MAX_WAITING_SEARCHES, () =>
    metrics.limitHits.inc({ limit: 'searches' }),
  );
  const maxComments = config.ARTICLE_COMMENTS;
  const community = createCommunity({
    clock,
    events,
    directory,
    localTime,
    logger,
    maxComments,
    quotas,
    searches,
  });
  const name = uniqueProcessName();
  const reports = redis?.isSigned
    ? new Reports({ redis, name, databaseTime: estimatedDatabaseTime })
    : undefined;
  const duty = redis && reports && new Duty({ name, reports, redis, logger });
  const notifications = createNotifications({
    ...{ clock, events, directory, localTime, live, logger, redis, reports },
  });
  const chat = createChat({
    ...{ clock, events, directory, adoption, live, logger, config, quotas },
    ...createChatState(live, redis),
  });
  const stopWatching = metrics.queueLength.watch(searches.waiting, { queue: 'searches' });
  let stopBeating: Awaited<ReturnType<typeof startBeating>> | undefined;
  let driftWatch: DriftWatch | undefined;
  let stopClock: (() => void) | undefined;
  const stopListening =
    redis && resendAfterOutages(redis, (since, isOver) => chat.resendSince(since, isOver));

  const sweeps = createSweeps({ community, chat, logger, reports });

  return {
    members,
    adoption,
    community,
    chat,
    notifications,
    /** What other processes report that they wrote; undefined if they do not. */
    reports,
    rateLimits: createRateLimits(config.RATE_LIMIT === 'on', redis),
    overload: new Overload(logger, config.QUEUE_MS, placesOfSearches(config)),
    /**
     * Starts what runs by itself until `close`: shows in the database that this process runs, and reports to the others,
     * looks for notifications that other processes stored, and finishes what a crash interrupted. Resolves when the counts are correct.
     * @param verifies whether to compare stored values with their records, too, if VERIFY_EVERY says so
     */
    async start(verifies = false): Promise<void> {
      // Reports carry the time. If the database does not answer, that of the first heartbeat.
      await databaseTime().catch(() => {});
      stopClock = watchDataClock(logger);
      reports?.start({
        writes: (since) => ({ ...chat.writtenSince(since), notifications: notifications.takePublished() }),
        news: notifications.takeNews,
      });
      stopBeating = await startBeating(name, logger);
      duty?.start();
      await notifications.startPoll();
      await sweeps.start();
      const everyMs = config.VERIFY_EVERY;
      if (verifies && everyMs !== 'off')
        driftWatch = new DriftWatch({ everyMs, checks: allChecks, name, logger });
    },
    /** Stops timers and queues; everything acknowledged is stored already. */
    async close(): Promise<void> {
      for (const stop of [stopListening, stopWatching, stopClock]) stop?.();
      await Promise.all([sweeps.close(), driftWatch?.close(), duty?.close(), chat.close()]);
      await notifications.close();
      // Otherwise it goes as a killed process does: the others look for what it could not publish.
      const isPublished = !reports || chat.isSettled();
      await stopBeating?.(!isPublished);
      reports?.close(isPublished);
    },
  };
}

export type Domain = Awaited<ReturnType<typeof createDomain>>;
