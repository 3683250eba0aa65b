import type { Adoption } from '../adoption/index.js';
import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { Live } from '../kernel/live.js';
import type { MemberDirectory } from '../members/index.js';
import type { Config } from '../platform/config.js';
import type { Logger } from '../platform/logger.js';
import type { Bindings } from './bindings/bindings.js';
import type { Ledger } from './messages/ledger.js';
import type { UnseenMessages } from './messages/unseen-messages.js';
import type { Presence } from './presence/presence.js';
import type { RoomChanges } from './rooms/room-changes.js';
import type { RoomStates } from './rooms/room-states.js';

/** What the use cases of this area work with. */
export interface ChatDeps {
  clock: Clock;
  events: EventBus;
  live: Live;
  logger: Logger;
  config: Pick<Config, 'LEGACY_ANONYMOUS'>;
  directory: MemberDirectory;
  adoption: Adoption;
  presence: Presence;
  bindings: Bindings;
  states: RoomStates;
  ledger: Ledger;
  changes: RoomChanges;
  unseen: UnseenMessages;
}
