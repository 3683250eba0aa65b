import { type ChatWorld, signingConfig, tokensOf } from './chat-world.js';
import type { RemoteTarget } from './options.js';

/** Rooms opened at the same time. */
const AT_ONCE = 16;

async function call<T>(base: string, path: string, token: string, json?: object): Promise<T> {
  const answer = await fetch(base + path, {
    method: json ? 'POST' : 'GET',
    headers: { Authorization: token, ...(json ? { 'Content-Type': 'application/json' } : {}) },
    ...(json ? { body: JSON.stringify(json) } : {}),
  });
  if (!answer.ok)
    throw new Error(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
  return (await answer.json()) as T;
}

/** A member's number, as the first event of their stream tells it. */
async function numberOf(base: string, token: string): Promise<number> {
  const answer = await fetch(`${base}/notification/connect`, {
    headers: { Authorization: token, Accept: 'text/event-stream' },
  });
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const found = /\[userId=(\d+)\]/.exec(text)?.[1];
    // Leaving the loop ends the stream.
    if (found !== undefined) return Number(found);
  }
  throw new Error('the event stream did not tell who is connected');
}

/**
 * Members and rooms on an installation that runs already: each load member opens one room about the newest
 * adoption post there. Nobody can act as that post's author, so both connections of a room are the load
 * member's, and what is sent counts as unread for the author.
 */
export async function openRemoteWorld({ http, secret }: RemoteTarget, rooms: number): Promise<ChatWorld> {
  const tokens = await tokensOf(signingConfig(secret), rooms);
  const posts = await call<{ id: number }[]>(http, '/adopt/render', tokens[0] as string);
  const saleNo = posts[0]?.id;
  if (saleNo === undefined)
    throw new Error('the installation has no adoption post that a room could be about');
  const world: ChatWorld = { members: [], tokens, rooms: [] };
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, rooms) }, async () => {
      while (next < rooms) {
        const i = next;
        next += 1;
        const token = tokens[i] as string;
        const no = await numberOf(http, token);
        await call(http, '/chatroom', token, { saleNo, createMember: no });
        const [room] = await call<{ chatNo: number }[]>(http, `/chatroom?saleNo=${saleNo}`, token);
        if (!room) throw new Error('a room was opened and is not listed');
        world.members[i] = no;
        world.rooms[i] = { no: room.chatNo, tokens: [token, token] };
      }
    }),
  );
  return world;
}
