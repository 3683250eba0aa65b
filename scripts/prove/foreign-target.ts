import { InvalidArguments } from '../command/run-command.js';
import { type Author, runName } from '../run-accounts/accounts.js';
import { openOwnAccounts } from '../run-accounts/own-accounts.js';
import { requireReady } from '../run-accounts/require-ready.js';
import { readCaller, readTokens } from '../run-accounts/tokens.js';
import { CLIENT, deleteArticles, emptyCommunity, openCommunity } from './community.js';
import type { ProveOptions } from './options.js';
import type { Served } from './served.js';
import type { Target } from './target.js';

/** Members of a run unless it says how many: a light load. */
const MEMBERS = 10;

/** Prints a line for the user. */
type Say = (line: string) => void;

/** Members whose tokens the user has: their rooms stay. */
async function useTokens(http: string, path: string, say: Say) {
  const run = runName(CLIENT);
  const members = await readTokens(http, CLIENT, path);
  for (const { no, token } of members) {
    const { role } = await readCaller(http, CLIENT, token);
    if (role === 'ADMIN')
      throw new InvalidArguments([
        `--tokens: member ${no} is an administrator, who may change what is of others`,
      ]);
  }
  say(`${members.length} members of ${path} open rooms with each other and publish articles titled ${run}`);
  say(
    'rooms and messages cannot be removed over the public interface, and stay; articles are deleted afterwards',
  );
  const community = emptyCommunity(run, members);
  await openCommunity(http, community, members);
  return {
    community,
    async close() {
      const deleted = await deleteArticles(http, community);
      const { rooms } = community;
      return [
        `deleted ${deleted} of ${community.articles.length} articles`,
        `left behind: the messages in the rooms ${rooms.map(({ room }) => room).join(', ')}`,
      ];
    },
  };
}

/** Members of the run's own, in the database of the settings. */
async function useSettings(http: string, count: number, say: Say) {
  const run = runName(CLIENT);
  const accounts = await openOwnAccounts(http, run);
  const members: Author[] = accounts.members;
  const community = emptyCommunity(run, members);
  async function remove(): Promise<string[]> {
    // By the service itself first, which then forgets what is popular.
    await deleteArticles(http, community);
    const published = community.published.flatMap(({ article }) => article ?? []);
    const removed = await accounts.remove([
      ...community.articles.map(({ article }) => article),
      ...published,
    ]);
    await accounts.close();
    return removed;
  }
  try {
    say(`${accounts.announced(count)},`);
    say(`rooms about these and articles titled ${run}; all are removed afterwards`);
    await accounts.create(count);
    await openCommunity(http, community, members);
  } catch (error) {
    await remove();
    throw error;
  }
  return { community, close: remove };
}

/**
 * Uses an installation that runs already, with members, rooms and articles of the run, which it names beforehand.
 * @throws InvalidArguments naming the option; Error if the installation does not serve, or is another than the settings'
 */
export async function useTarget(options: ProveOptions, say: Say): Promise<Target> {
  const { http, gateway = '', tokens, members = MEMBERS } = options;
  const servers: Served[] = [
    { name: 'http', door: 'http', base: String(http) },
    { name: 'gateway', door: 'gateway', base: gateway },
  ];
  for (const { name, base } of servers) await requireReady(name, base);
  const used = tokens
    ? await useTokens(String(http), tokens, say)
    : await useSettings(String(http), members, say);
  return { servers, ...used };
}
