import { type Adoption, createAdoption } from './adoption/index.js';
import { type Chat, createChat, createChatState } from './chat/index.js';
import { type Community, createCommunity } from './community/index.js';
import { type Clock, systemClock } from './kernel/clock.js';
import { createEventBus } from './kernel/events.js';
import type { Live } from './kernel/live.js';
import { createLocalDateTime } from './kernel/local-date-time.js';
import { createMembers, type Members } from './members/index.js';
import { createDeliveryBus, createNotifications, type Notifications } from './notifications/index.js';
import type { Config } from './platform/config.js';
import type { Logger } from './platform/logger.js';
import { createRateLimits, type RateLimits } from './platform/rate-limits/index.js';
import type { RedisConnection } from './platform/redis/connection.js';

/** The whole domain layer, shared by REST, event streams, sockets and commands. */
export interface Domain {
  members: Members;
  adoption: Adoption;
  community: Community;
  chat: Chat;
  notifications: Notifications;
  rateLimits: RateLimits;
  /** Finishes what a crash interrupted, and goes on looking for it until `close`. */
  startSweeps(): Promise<void>;
  /** Ends timers and queues; everything acknowledged is stored already. */
  close(): Promise<void>;
}

export interface DomainOptions {
  config: Config;
  logger: Logger;
  /** Where pushes to sockets go. */
  live: Live;
  /** What this process shares with others; without it, everything is kept in this process. */
  redis?: RedisConnection;
  clock?: Clock;
}

/** How often, in ms, records are looked for whose consequences a crash interrupted. */
const SWEEP_EVERY_MS = 30_000;

/** Longest time, in ms, in which Redis may be away before it is noticed (platform/redis: check, echo, silence). */
const UNNOTICED_MS = 5_000;

/** Puts the areas together; needs a connected database (platform/mongo). */
export async function createDomain(options: DomainOptions): Promise<Domain> {
  const { config, logger, live, redis, clock = systemClock } = options;
  const events = createEventBus();
  const localTime = createLocalDateTime(config.TIME_ZONE);
  const members = await createMembers(config, clock);
  const { directory } = members;
  const adoption = createAdoption({ clock });
  const community = createCommunity({ clock, events, directory, localTime, logger });
  const notifications = createNotifications({
    ...{ clock, events, directory, localTime, live, logger },
    wakeUps: createDeliveryBus(redis),
  });
  const chat = createChat({
    ...{ clock, events, directory, adoption, live, logger, config },
    ...createChatState(clock, live, redis),
  });
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  const closing = new AbortController();
  /** From when on pushes of this process may have been lost, by performance.now(). */
  let unheardSince = Number.NEGATIVE_INFINITY;
  const endings = [
    redis?.on('away', () => {
      unheardSince = performance.now() - UNNOTICED_MS;
    }),
    redis?.on('back', () => void chat.tellAgain(unheardSince)),
  ];

  /** One at a time: a sweep may have so much to finish that the next one is due before. */
  function sweepCommunity(): Promise<void> {
    sweeping ??= community
      .sweep(closing.signal)
      .catch((error) => logger.warn({ err: error }, 'a sweep failed; the next one tries again'))
      .finally(() => {
        sweeping = undefined;
      });
    return sweeping;
  }

  /** Resolves when the counts are right; what is left to announce is announced meanwhile. */
  async function sweep(): Promise<void> {
    void chat.sweep();
    await sweepCommunity();
  }

  return {
    members,
    adoption,
    community,
    chat,
    notifications,
    rateLimits: createRateLimits(config.RATE_LIMIT === 'on', redis),
    async startSweeps() {
      await notifications.startTail();
      await sweep();
      timer = setInterval(() => void sweep(), SWEEP_EVERY_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      for (const end of endings) end?.();
      closing.abort();
      await Promise.all([sweeping, chat.close()]);
      await notifications.close();
    },
  };
}
