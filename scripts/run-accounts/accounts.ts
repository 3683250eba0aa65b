import { createAdoption } from '../../domain/adoption/index.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { saveMembers } from '../../domain/members/index.js';
import { forEachConcurrently } from '../load/pacing.js';

/** A member of a run. */
export interface Account {
  no: number;
  nickname: string;
  email: string;
  token: string;
  /** Undefined where it is not known. */
  picture?: string;
}

/** A member, and adoption posts among which is one of theirs; none if they are no author. */
export interface Author extends Account {
  posts: number[];
  /** Of these posts; undefined where it is not known. */
  saleTitle?: string;
}

/** Signs an access token. */
export type SignToken = (email: string, nickname: string) => Promise<string>;

/** The animal of a post that a run imports. */
export const ANIMAL = {
  name: 'Bori',
  age: '2',
  kind: 'dog',
  thumbnail: '/bori.jpg',
  latitude: 37.5,
  longitude: 127,
};

/** Posts stored at the same time. */
const CONCURRENCY = 8;

/** In addresses, nicknames and titles of a run. @param command that of the run */
export const runName = (command: string): string => `${command}-${Date.now().toString(36)}`;

/** The address of a run's member, counted from 1. */
export const emailOf = (run: string, i: number): string => `${run}-${i}@run.example.org`;

/**
 * Stores more members of a run in the connected database, some with an adoption post: neither can be created over the
 * public interface.
 *
 * @param accounts those of the run so far; gets the others as they are stored
 * @param perAuthor every so many has a post, the first one included
 */
export async function storeAccounts(
  accounts: Author[],
  run: string,
  count: number,
  sign: SignToken,
  perAuthor = 1,
): Promise<void> {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const before = accounts.length;
  const facts = Array.from({ length: count }, (_, i) => {
    const number = before + i + 1;
    const profile = `/${run}/${number}.jpg`;
    return { email: emailOf(run, number), nickname: `${run} ${number}`, profile, issuedAt };
  });
  const saved = await saveMembers(systemClock, facts);
  for (const [i, { email, nickname, profile: picture }] of facts.entries()) {
    const no = saved[i]?.actor.no as number;
    const saleTitle = `${nickname} offers Bori`;
    accounts.push({ no, email, nickname, picture, saleTitle, token: await sign(email, nickname), posts: [] });
  }
  const { savePost } = createAdoption({ clock: systemClock });
  const authors = accounts.slice(before).filter((_, i) => i % perAuthor === 0);
  await forEachConcurrently(authors, CONCURRENCY, async ({ no, saleTitle: title = '', posts }) => {
    posts.push(await savePost({ ...ANIMAL, authorNo: no, title }));
  });
}
