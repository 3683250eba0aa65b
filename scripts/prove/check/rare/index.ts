import type { Run } from '../facts/run.js';
import type { Watcher } from '../rule.js';
import { chatPaths } from './chat.js';
import { communityPaths } from './community.js';
import { noticePaths } from './notices.js';
import { roomVisits } from './room-visits.js';

/** What count the paths of a service that are rarely taken. */
export const rarePaths: readonly ((run: Run) => Watcher)[] = [
  chatPaths,
  roomVisits,
  communityPaths,
  noticePaths,
];
