/** All checks of stored values against their records: for `npm run verify`, and for the pass of a running service. */
import { checkAdoption } from './adoption/index.js';
import { checkChat } from './chat/index.js';
import { checkCommunity } from './community/index.js';
import type { Check } from './kernel/verification.js';
import { checkMembers } from './members/index.js';
import { checkNotifications } from './notifications/index.js';

export const allChecks = (): Check[] => [
  ...checkMembers(),
  ...checkAdoption(),
  ...checkCommunity(),
  ...checkChat(),
  ...checkNotifications(),
];
