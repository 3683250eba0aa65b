import { ProcessGroup } from '../load/process-group.js';
import { prlimitMissing, redisMissing } from '../load/programs.js';
import { connected } from '../load/seed.js';
import { type Author, ownToken, storeAccounts } from './accounts.js';
import { type Community, emptyCommunity, openCommunity } from './community.js';
import { faultKinds } from './faults/kinds.js';
import type { ProveOptions } from './options.js';
import { type OwnInstallation, startOwnInstallation } from './own-installation.js';
import type { Served } from './served.js';

/** Members of a run unless it says how many. */
const MEMBERS = 40;

/** The installation that a run proves, with members, rooms and articles of the run. */
export interface Target {
  servers: Served[];
  community: Community;
  own?: OwnInstallation;
  /** Removes everything of the run. @returns what was removed, and what is left behind, a line each */
  close(): Promise<string[]>;
}

/** In addresses, nicknames and titles of a run. */
export const runName = (): string => `prove-${Date.now().toString(36)}`;

/**
 * Starts an installation.
 * @param onStart called with what ends it, as soon as there is something to end
 * @throws Error if redis-server or, for disk-full, prlimit is missing, or a process does not start
 */
export async function startTarget(
  options: ProveOptions,
  onStart: (end: () => Promise<string[]>) => void,
): Promise<Target> {
  if (redisMissing) throw new Error(`redis-server is ${redisMissing}`);
  const { faults = faultKinds } = options;
  if (prlimitMissing && faults.includes('disk-full'))
    throw new Error(`prlimit, which disk-full needs, is ${prlimitMissing}`);
  const { members = MEMBERS, http, gateways, engine, adapter } = options;
  const group = new ProcessGroup(undefined, 'prove');
  const end = async () => {
    await group.end();
    return ['the installation is stopped, and its folder removed'];
  };
  onStart(end);
  const run = runName();
  let authors: Author[] = [];
  const own = await startOwnInstallation(
    group,
    { http: Number(http), gateways, engine, adapter },
    async (uri) => {
      authors = await connected(uri, () => storeAccounts(run, members, ownToken));
    },
  );
  const base = own.services.find(({ door }) => door === 'http')?.base ?? '';
  const close = async () => {
    await own.close();
    return end();
  };
  const community = emptyCommunity(run, authors);
  await openCommunity(base, community, authors);
  return { servers: own.services, own, community, close };
}
