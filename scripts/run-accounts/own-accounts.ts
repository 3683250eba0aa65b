import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../domain/members/index.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { openDatabase } from '../command/open-database.js';
import { connected } from '../load/seed.js';
import { type Author, emailOf, storeAccounts } from './accounts.js';
import { type Removed, removeRecords } from './remove-records.js';
import { readCaller } from './tokens.js';

/** Time, ms, until the service has done what follows from the last requests: it notifies in the background. */
const SETTLED_MS = 2_000;

/** Lifetime of the tokens. */
const TTL = '24h';

/**
 * Opens the database of the settings for a run's members, who are created beside a running service.
 * @param http address of the installation
 * @param run in their addresses
 */
export async function openOwnAccounts(http: string, run: string) {
  const config = loadConfig();
  const database = await openDatabase(config);
  const members: Author[] = [];
  /** How many have been attempted: what an error interrupted is removed, too. */
  let count = 0;

  /** @throws Error if the service does not know the members of this database */
  async function requireSame({ no, token }: Author): Promise<void> {
    const another = `the installation at ${http} has another key or database than the settings of this folder: run the command with its settings, or use --tokens`;
    const known = await readCaller(http, run, token).catch((cause: Error) => {
      throw new Error(`${another} (${cause.message})`);
    });
    if (known.memberNo !== no) throw new Error(another);
  }

  return {
    members,

    /** What `create` is going to do, for the user. */
    announced(more: number, perAuthor = 1): string {
      const [first, last] = [emailOf(run, count + 1), emailOf(run, count + more)];
      return `creates ${first} to ${last}, ${perAuthor === 1 ? 'each' : `one of ${perAuthor}`} with an adoption post`;
    },

    /** Creates more members, some of them authors of an adoption post. @throws Error if the service has another database */
    async create(more: number, perAuthor = 1): Promise<void> {
      const isFirst = count === 0;
      count += more;
      const sign = (email: string, nickname: string) => issueToken(config, { email, nickname, ttl: TTL });
      await connected(database.uri, () => storeAccounts(members, run, more, sign, perAuthor));
      if (isFirst) await requireSame(members[0] as Author);
    },

    /** Removes the members and all that belongs to them. @returns what there was, a line for the user; none if nothing */
    async remove(articles: number[] = []): Promise<string[]> {
      if (count === 0) return [];
      await sleep(SETTLED_MS);
      const emails = Array.from({ length: count }, (_, i) => emailOf(run, i + 1));
      const posts = members.flatMap((member) => member.posts);
      try {
        const removed = await connected(database.uri, () => removeRecords({ emails, posts, articles }));
        const counts = (Object.entries(removed) as [keyof Removed, number][]).flatMap(([kind, number]) =>
          number > 0 ? `${number.toLocaleString('en')} ${kind}` : [],
        );
        return [`removed ${run}: ${counts.join(', ')}, and all that belongs to them`];
      } catch (error) {
        throw new Error(
          `${run} could not be removed, ${emailOf(run, 1)} to ${emailOf(run, count)}: ${(error as Error).message}`,
        );
      }
    },

    close: () => database.close(),
  };
}
