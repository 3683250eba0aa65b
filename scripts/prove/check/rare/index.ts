import type { Run } from '../facts/run.js';
import type { Watcher } from '../rule.js';
import { chatPaths } from './chat.js';
import { communityPaths } from './community.js';
import { noticePaths } from './notices.js';
import { roomVisits } from './room-visits.js';

/** Count the rarely taken paths of a service. */
export const rarePaths: readonly ((run: Run) => Watcher)[] = [
  chatPaths,
  roomVisits,
  communityPaths,
  noticePaths,
];
