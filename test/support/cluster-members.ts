import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { ANIMAL } from '../../scripts/run-accounts/accounts.js';
import type { Member } from './api.js';
import { type OpenedRoom, openChat } from './chat.js';
import { runProgram } from './child-process.js';
import { restClient } from './rest.js';
import type { TokenClaims } from './service.js';
import { openStream } from './streams.js';

/** A member of a cluster, imported with adoption posts of their own. Requests go to each http process in turn. */
export interface ClusterMember extends Omit<Member, 'actor'> {
  /** Numbers of their adoption posts. */
  posts: number[];
}

export type ClusterRoom = OpenedRoom<ClusterMember>;

export type ClusterMembers = ReturnType<typeof createClusterMembers>;

/** How many members a cluster has, and how many adoption posts each of them. */
export interface Population {
  members: number;
  postsEach: number;
}

/** Imports members and their posts by the operator's command. */
export async function importMembers(
  folder: string,
  env: Record<string, string>,
  { members, postsEach }: Population,
): Promise<void> {
  const rows = Array.from({ length: members }, (_, i) => {
    const [no, email] = [i + 1, `member-${i + 1}@example.org`];
    const posts = Array.from({ length: postsEach }, (_, k) => ({
      record: 'adoption',
      id: i * postsEach + k + 1,
      author: email,
      title: `Post ${k + 1} of member ${no}`,
      ...ANIMAL,
    }));
    return [{ record: 'member', email, nickname: `member ${no}` }, ...posts];
  });
  const file = join(folder, 'members.json');
  writeFileSync(file, JSON.stringify(rows.flat()));
  const { status, output } = await runProgram({ path: 'scripts/import.js', args: [file], folder, env });
  if (status !== 0) throw new Error(`the import ended with status ${status}:\n${output}`);
}

/** The imported members, through the public interface alone. @param http addresses of the http processes */
export function createClusterMembers(http: string[], secret: string, { members, postsEach }: Population) {
  const key = new TextEncoder().encode(secret);
  let used = 0;
  let turn = 0;
  const nextBase = () => {
    turn += 1;
    return http[turn % http.length] as string;
  };

  // Valid by a clock that is an hour off, too.
  const token = (email: string, { ttl = '3h', ...claims }: TokenClaims = {}) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(email)
      .setIssuedAt('1h ago')
      .setExpirationTime(ttl)
      .sign(key);

  /** The member number is in the first event of a stream. */
  async function numberOf(jwt: string): Promise<number> {
    const stream = await openStream({ token: jwt }, { base: nextBase() });
    const { data } = await stream.next();
    stream.close();
    return Number(/userId=(\d+)/.exec(data)?.[1]);
  }

  /** A member that no other test of the cluster uses. */
  async function member(): Promise<ClusterMember> {
    used += 1;
    if (used > members) throw new Error(`only ${members} members were imported`);
    const [email, nickname] = [`member-${used}@example.org`, `member ${used}`];
    const first = (used - 1) * postsEach + 1;
    const posts = Array.from({ length: postsEach }, (_, i) => first + i);
    const jwt = await token(email);
    return { email, nickname, token: jwt, no: await numberOf(jwt), posts, ...restClient(nextBase, jwt) };
  }

  /** A room of two members about a post of the first. @param post index of the post */
  async function openRoomOf(author: ClusterMember, asker: ClusterMember, post = 0): Promise<ClusterRoom> {
    const saleNo = author.posts[post] as number;
    return { author, asker, saleNo, chatNo: await openChat(asker, saleNo, author.no) };
  }

  return {
    member,
    openRoomOf,
    /** A room of two new members. */
    openRoom: async () => openRoomOf(await member(), await member()),
    /** A request without a token. */
    call: restClient(nextBase).call,
  };
}
