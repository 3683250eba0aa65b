import { SignJWT } from 'jose';
import { createAdoption } from '../../domain/adoption/index.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { issueToken, saveMembers } from '../../domain/members/index.js';
import type { Config } from '../../domain/platform/config.js';
import { SECRET } from '../load/installation.js';

/** A member of a run. */
export interface Account {
  no: number;
  nickname: string;
  email: string;
  token: string;
}

/** A member, and adoption posts among which is one of theirs. */
export interface Author extends Account {
  posts: number[];
}

const ANIMAL = {
  name: 'Bori',
  age: '2',
  kind: 'dog',
  thumbnail: '/bori.jpg',
  latitude: 37.5,
  longitude: 127,
};

/**
 * Stores members with an adoption post each: neither can be created over the public interface.
 * @param run in their addresses, nicknames and titles
 */
export async function storeAccounts(
  run: string,
  count: number,
  tokenOf: (email: string, nickname: string) => Promise<string>,
): Promise<Author[]> {
  const named = Array.from({ length: count }, (_, i) => ({
    email: `${run}-${i + 1}@prove.example.org`,
    nickname: `${run} ${i + 1}`,
  }));
  const issuedAt = Math.floor(Date.now() / 1_000);
  const saved = await saveMembers(
    systemClock,
    named.map((one) => ({ ...one, issuedAt })),
  );
  const { savePost } = createAdoption({ clock: systemClock });
  const numbers = await Promise.all(
    saved.map(({ actor }) =>
      savePost({ ...ANIMAL, authorNo: actor.no, title: `${actor.nickname} offers Bori` }),
    ),
  );
  return Promise.all(
    named.map(async ({ email, nickname }, i) => ({
      no: saved[i]?.actor.no as number,
      email,
      nickname,
      token: await tokenOf(email, nickname),
      posts: [numbers[i] as number],
    })),
  );
}

/** A token of the installation that a run starts. Valid by clocks up to two hours off. */
export function ownToken(email: string, nickname: string): Promise<string> {
  return new SignJWT({ nickname })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(email)
    .setIssuedAt('2h ago')
    .setExpirationTime('24h')
    .sign(new TextEncoder().encode(SECRET));
}

/** Signs tokens as `npm run token` does, with the key of the settings. */
export function signerOf(config: Config): (email: string, nickname: string) => Promise<string> {
  return (email, nickname) => issueToken(config, { email, nickname, ttl: '12h' });
}
