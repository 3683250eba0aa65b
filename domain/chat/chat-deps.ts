import type { Adoption } from '../adoption/index.js';
import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { Live } from '../kernel/live.js';
import type { MemberDirectory } from '../members/index.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Quotas } from '../platform/rate-limits/index.js';
import type { Config } from '../platform/settings/config.js';
import type { Ledger } from './ledger.js';
import type { NotifyAbsent } from './notify-absent.js';
import type { Presence } from './presence.js';
import type { RecentClients } from './recent-clients.js';
import type { RoomChanges } from './room-changes.js';
import type { RoomStates } from './room-states.js';

/** What the use cases of chat depend on. */
export interface ChatDeps {
  clock: Clock;
  events: EventBus;
  live: Live;
  logger: Logger;
  config: Pick<Config, 'LEGACY_ANONYMOUS'>;
  directory: MemberDirectory;
  adoption: Adoption;
  quotas: Quotas;
  presence: Presence;
  recentClients: RecentClients;
  states: RoomStates;
  ledger: Ledger;
  changes: RoomChanges;
  notifyAbsent: NotifyAbsent;
}
