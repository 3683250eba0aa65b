import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { loadConfig } from '../../domain/platform/config.js';
import { openDatabase } from '../command/open-database.js';
import { InvalidArguments } from '../command/run-command.js';
import { memberNoOf } from '../load/remote-target.js';
import { connected } from '../load/seed.js';
import { type Author, signerOf, storeAccounts } from './accounts.js';
import { emptyCommunity, openCommunity } from './community.js';
import type { ProveOptions } from './options.js';
import { deleteArticles, removeRecords } from './remove-run.js';
import { must } from './rest.js';
import type { Served } from './served.js';
import { runName, type Target } from './target.js';

/** Members of a run unless it says how many: a light load. */
const MEMBERS = 10;

/** Adoption posts among which one of the members' own is searched. */
const POSTS = 50;

/** Time, ms, until the service has done what follows from the last requests: it notifies in the background. */
const SETTLED_MS = 2_000;

/** Prints a line for the user. */
type Say = (line: string) => void;

async function requireReady({ name, base }: Served): Promise<void> {
  const answer = await fetch(`${base}/readyz`).catch(() => undefined);
  if (!answer) throw new InvalidArguments([`--${name}: nothing answers at ${base}`]);
  if (!answer.ok) throw new Error(`${base}/readyz answers ${answer.status}: ${await answer.text()}`);
}

/** @throws InvalidArguments if the file cannot be read or holds fewer than two tokens */
async function readTokens(http: string, path: string): Promise<Author[]> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidArguments([`--tokens: ${(error as Error).message}`]);
  }
  const tokens = [...new Set(text.split('\n').flatMap((line) => line.trim() || []))];
  if (tokens.length < 2)
    throw new InvalidArguments(['--tokens: two members at least are needed, one token a line']);
  const [token] = tokens;
  const posts = await must<{ id: number }[]>({
    ...{ base: http, method: 'GET', path: '/adopt/render', token, client: 'prove' },
  });
  const numbers = posts.slice(0, POSTS).map(({ id }) => id);
  return Promise.all(
    tokens.map(async (one, i) => {
      const { sub, nickname } = readClaims(one, i + 1);
      return { no: await memberNoOf(http, one), nickname, email: sub, token: one, posts: numbers };
    }),
  );
}

function readClaims(token: string, line: number): { sub: string; nickname: string } {
  try {
    const { sub = '', nickname, name } = decodeJwt(token.replace(/^Bearer /, ''));
    return { sub, nickname: String(nickname ?? name ?? sub.split('@')[0]) };
  } catch {
    throw new InvalidArguments([`--tokens: line ${line} is no access token`]);
  }
}

/** Members whose tokens the user has: their rooms stay. */
async function useTokens(http: string, path: string, say: Say) {
  const run = runName();
  const members = await readTokens(http, path);
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
  const run = runName();
  const config = loadConfig();
  const signed = signerOf(config);
  const database = await openDatabase(config);
  const removed = [
    `removed ${run}: its members, adoption posts, rooms, articles and all that belongs to them`,
  ];
  let members: Author[] = [];
  let community = emptyCommunity(run, members);
  async function remove(): Promise<string[]> {
    // By the service itself first, which then forgets what is popular.
    await deleteArticles(http, community);
    await sleep(SETTLED_MS);
    const articles = community.articles.map(({ article }) => article);
    await connected(database.uri, () => removeRecords(members, articles));
    await database.close();
    return removed;
  }
  try {
    say(
      `creates ${run}-1@prove.example.org to ${run}-${count}@prove.example.org, each with an adoption post,`,
    );
    say(`rooms about these and articles titled ${run}; all are removed afterwards`);
    members = await connected(database.uri, () => storeAccounts(run, count, signed));
    await requireSame(http, members[0] as Author);
    community = emptyCommunity(run, members);
    await openCommunity(http, community, members);
  } catch (error) {
    await remove();
    throw error;
  }
  return { community, close: remove };
}

/** @throws Error if the service does not know the member that the database of the settings has */
async function requireSame(http: string, { no, token }: Author): Promise<void> {
  const known = await memberNoOf(http, token).catch(() => undefined);
  if (known !== no)
    throw new Error(
      `the installation at ${http} has another key or database than the settings of this folder: run the command with its settings, or use --tokens`,
    );
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
  for (const served of servers) await requireReady(served);
  const used = tokens
    ? await useTokens(String(http), tokens, say)
    : await useSettings(String(http), members, say);
  return { servers, ...used };
}
