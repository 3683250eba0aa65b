import type { Account, Author } from './accounts.js';
import { must, restInTime } from './rest.js';

/** A room of a run. */
export interface OpenedRoom {
  room: number;
  /** The post that it is about. */
  saleNo: number;
  saleTitle: string;
  /** Whether it holds messages already. */
  isUsed: boolean;
}

/** Answers where the other member is not the author of the post, or the post is gone. */
const OTHERS_POST = [400, 404];

/**
 * Opens the room of two members about the first of these posts that is the author's, over the public interface.
 * @param base address of an http process
 * @param client User-Agent
 * @returns undefined if none of the posts is
 * @throws Error naming the call, if it is refused for another reason
 */
export async function openRoom(
  base: string,
  client: string,
  author: Pick<Author, 'no' | 'posts' | 'saleTitle'>,
  asker: Pick<Account, 'token'>,
): Promise<OpenedRoom | undefined> {
  const call = { base, token: asker.token, client };
  for (const saleNo of author.posts) {
    const body = { saleNo, createMember: author.no };
    const opened = await restInTime({ ...call, method: 'POST', path: '/chatroom', body });
    if ('unknown' in opened) throw new Error(`POST /chatroom: ${opened.unknown}`);
    if ('refusal' in opened) {
      const { status, code } = opened.refusal;
      if (!OTHERS_POST.includes(status)) throw new Error(`POST /chatroom: answered ${status} ${code}`);
      continue;
    }
    const rooms = await must<
      { chatNo: number; createMember: number; saleTitle: string; latestMessage?: object }[]
    >({
      ...{ ...call, method: 'GET' as const, path: `/chatroom?saleNo=${saleNo}` },
    });
    const found = rooms.find(({ createMember }) => createMember === author.no);
    if (!found) continue;
    const { chatNo: room, saleTitle, latestMessage } = found;
    return { room, saleNo, saleTitle: author.saleTitle ?? saleTitle, isUsed: latestMessage !== undefined };
  }
  return undefined;
}
