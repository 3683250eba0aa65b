import { once } from 'node:events';
import { connect } from 'node:net';
import type { ConnectionSpec } from './clients/connection.js';
import type { RemoteTarget } from './options.js';
import { forEachConcurrently } from './pacing.js';
import { tokensOf } from './seed.js';

/** Rooms opened at the same time. */
const CONCURRENCY = 16;

/** Longest wait for an installation to accept a connection, ms. */
const REACH_MS = 5_000;

/** @throws Error naming the address of an installation that accepts no connection */
export async function requireReachable(remote: RemoteTarget): Promise<void> {
  for (const name of ['http', 'gateway'] as const) {
    const { hostname, port, protocol } = new URL(remote[name]);
    const socket = connect(Number(port || (protocol === 'https:' ? 443 : 80)), hostname);
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(REACH_MS) });
    } catch (error) {
      const { code, name: kind } = error as NodeJS.ErrnoException;
      const reason = kind === 'AbortError' ? `no answer within ${REACH_MS / 1_000} s` : code;
      throw new Error(`--${name} ${remote[name]} cannot be reached: ${reason}`);
    } finally {
      socket.destroy();
    }
  }
}

async function call<T>(base: string, path: string, token: string, json?: object): Promise<T> {
  const response = await fetch(base + path, {
    method: json ? 'POST' : 'GET',
    headers: { Authorization: token, ...(json ? { 'Content-Type': 'application/json' } : {}) },
    ...(json ? { body: JSON.stringify(json) } : {}),
  });
  if (!response.ok)
    throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  return (await response.json()) as T;
}

/** A member's number, from the first event of their stream. */
export async function memberNoOf(base: string, token: string): Promise<number> {
  const response = await fetch(`${base}/notification/connect`, {
    headers: { Authorization: token, Accept: 'text/event-stream' },
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const found = /\[userId=(\d+)\]/.exec(text)?.[1];
    // Leaving the loop closes the stream.
    if (found !== undefined) return Number(found);
  }
  throw new Error('the event stream ended without a member number');
}

/**
 * Rooms of a running installation: each load member opens one about its newest adoption post. Nobody can act
 * as that post's author, so both connections of a room are the load member's, and what is sent stays unread.
 *
 * @param after members who are left out: the first ones of `tokensOf`
 * @returns both connections of each room
 */
export async function openRemoteRooms(
  { http, secret }: Pick<RemoteTarget, 'http' | 'secret'>,
  count: number,
  after = 0,
): Promise<ConnectionSpec[]> {
  const tokens = await tokensOf(secret, count, after);
  const posts = await call<{ id: number }[]>(http, '/adopt/render', tokens[0] as string);
  const saleNo = posts[0]?.id;
  if (saleNo === undefined) throw new Error('the installation needs an adoption post, and has none');
  const members: ConnectionSpec[] = [];
  await forEachConcurrently(tokens, CONCURRENCY, async (token, i) => {
    await call(http, '/chatroom', token, { saleNo, createMember: await memberNoOf(http, token) });
    const [room] = await call<{ chatNo: number }[]>(http, `/chatroom?saleNo=${saleNo}`, token);
    if (!room) throw new Error('a room was opened but is not listed');
    members[i * 2] = { token, room: room.chatNo };
    members[i * 2 + 1] = { token, room: room.chatNo };
  });
  return members;
}
