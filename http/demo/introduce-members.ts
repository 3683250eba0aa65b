import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { issueToken } from '../../domain/members/index.js';
import type { Config } from '../../domain/platform/config.js';

/** A member as the demo page shows and speaks for them. */
export interface DemoMember {
  no: number;
  email: string;
  nickname: string;
  profile: string;
  /** Numbers of their adoption posts: what somebody may open a chat with them about. */
  posts: number[];
  token: string;
}

/** The first members are the sample's; more than this a page cannot offer well. */
const MAX_MEMBERS = 40;
/** Posts looked at for their authors. */
const MAX_POSTS = 500;
const TOKEN_LIFE = '2h';

/** Domains that belong to nobody (RFC 2606). */
const NOBODYS = /@(?:[^@]+\.)?(?:example\.(?:com|net|org)|example|test|invalid)$/i;

/**
 * Whether an address can be of a sample member. Nobody's own account is ever handed out, not even
 * where the demo runs on a database that real people use.
 */
export function isSampleAddress(email: string): boolean {
  return NOBODYS.test(email);
}

async function sampleMembers({ members }: Domain): Promise<Actor[]> {
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
