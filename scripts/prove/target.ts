import { SignJWT } from 'jose';
import { SECRET } from '../load/installation.js';
import { ProcessGroup } from '../load/process-group.js';
import { prlimitMissing, redisMissing } from '../load/programs.js';
import { connected } from '../load/seed.js';
import { type Author, runName, storeAccounts } from '../run-accounts/accounts.js';
import { CLIENT, type Community, emptyCommunity, openCommunity } from './community.js';
import { faultKinds } from './faults/kinds.js';
import { ownDefaults, type ProveOptions } from './options.js';
import { END, LOCAL_OFFSET_MS, type OwnInstallation, startOwnInstallation } from './own-installation.js';
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

/** A token of the installation that a run starts. Valid by clocks up to two hours off, and for longer than the longest run. */
export function ownToken(email: string, nickname: string): Promise<string> {
  return new SignJWT({ nickname })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(email)
    .setIssuedAt('2h ago')
    .setExpirationTime('48h')
    .sign(new TextEncoder().encode(SECRET));
}

/**
 * Starts an installation.
 * @param onStart called with what ends it, as soon as there is something to end, and again when there is more
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
  const { members = MEMBERS, http, gateways, engine, adapter, build } = { ...ownDefaults, ...options };
  const group = new ProcessGroup(undefined, 'prove');
  // At once: nothing of it is kept, and what a fault holds could not end in order.
  const ending = (end: () => Promise<void>) => async () => {
    await end();
    return ['the installation is stopped, and its folder removed'];
  };
  onStart(ending(() => group.end(END)));
  const run = runName(CLIENT);
  const authors: Author[] = [];
  const own = await startOwnInstallation(
    group,
    { http: Number(http), gateways, engine, adapter, build },
    (uri) => connected(uri, () => storeAccounts(authors, run, members, ownToken)),
  );
  const base = own.services.find(({ door }) => door === 'http')?.base ?? '';
  const close = ending(own.close);
  // Beside processes it has proxies, which would keep the command running.
  onStart(close);
  const community = { ...emptyCommunity(run, authors), localOffsetMs: LOCAL_OFFSET_MS };
  await openCommunity(base, community, authors);
  return { servers: own.services, own, community, close };
}
