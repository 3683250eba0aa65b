import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import type { Turns } from '../platform/async/turns.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Quotas } from '../platform/rate-limits/index.js';
import type { Counters } from './counters.js';
import type { Trending } from './trending.js';

/** Dependencies of the area's use cases; each takes those it needs. */
export interface CommunityDeps {
  clock: Clock;
  events: EventBus;
  directory: MemberDirectory;
  localTime: LocalDateTime;
  logger: Logger;
  quotas: Quotas;
  counters: Counters;
  trending: Trending;
  /** Searches take their turns. */
  searches: Turns;
  /** Live comments and replies that an article takes. */
  maxComments: number;
}
