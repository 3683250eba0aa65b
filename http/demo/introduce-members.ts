import type { Domain } from '../../domain/domain.js';
import type { Person } from '../../domain/kernel/actor.js';
import { issueToken } from '../../domain/members/index.js';
import type { Config } from '../../domain/platform/settings/config.js';

/** A member whom the demo page acts for. */
export interface DemoMember {
  no: number;
  email: string;
  nickname: string;
  profile: string;
  /** Numbers of their adoption posts, about which a chat can be opened. */
  posts: number[];
  token: string;
}

/** Most members offered; the sample's come first. */
const MAX_MEMBERS = 40;
/** Posts whose authors are looked up. */
const MAX_POSTS = 500;
const TOKEN_LIFE = '2h';

/** Reserved domains (RFC 2606). */
const RESERVED = /@(?:[^@]+\.)?(?:example\.(?:com|net|org)|example|test|invalid)$/i;

/**
 * Whether an address can be a sample member's: the demo never issues a token for a real person, whatever
 * database it runs on.
 */
export function isSampleAddress(email: string): boolean {
  return RESERVED.test(email);
}

async function sampleMembers({ members }: Domain): Promise<Person[]> {
  for await (const numbers of members.directory.allNumbers(MAX_MEMBERS)) {
    const people = await members.directory.lookUp(numbers);
    return [...people.values()].filter(({ email }) => isSampleAddress(email)).sort((a, b) => a.no - b.no);
  }
  return [];
}

async function postsByAuthor({ adoption }: Domain): Promise<Map<number, number[]>> {
  const records = await adoption.listRenderRecords();
  const posts = await adoption.findPosts(records.slice(0, MAX_POSTS).map(({ id }) => id));
  const byAuthor = new Map<number, number[]>();
  for (const { no, authorNo } of posts.values()) {
    byAuthor.set(authorNo, [...(byAuthor.get(authorNo) ?? []), no]);
  }
  return byAuthor;
}

/** The sample members with a token each. */
export async function introduceMembers(domain: Domain, config: Config): Promise<DemoMember[]> {
  const [people, posts] = await Promise.all([sampleMembers(domain), postsByAuthor(domain)]);
  return Promise.all(
    people.map(async ({ no, email, nickname, profile }) => ({
      no,
      email,
      nickname,
      profile,
      posts: posts.get(no) ?? [],
      token: await issueToken(config, { email, ttl: TOKEN_LIFE }),
    })),
  );
}
