import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { InvalidArguments } from '../command/run-command.js';
import { type Author, runName } from '../run-accounts/accounts.js';
import { openOwnAccounts } from '../run-accounts/own-accounts.js';
import { requireReady } from '../run-accounts/require-ready.js';
import { type OpenedRoom, openRoom } from '../run-accounts/rooms.js';
import { readTokens } from '../run-accounts/tokens.js';
import type { ConnectionSpec, Target } from './clients/connection.js';
import { type LoadOptions, remoteTargetOf } from './options.js';
import { forEachConcurrently } from './pacing.js';
import { ranges } from './ranges.js';

/** The command, in the names of what it creates and as User-Agent of its requests. */
const CLIENT = 'load';

/** Rooms opened at the same time. */
const CONCURRENCY = 16;

/** An installation that runs already, as contenders use it. */
export interface RemoteTarget {
  sockets: Target;
  /** Whether it is on this machine, so that its CPU cannot be told from that of other programs. */
  isHere: boolean;
  /** Opens rooms, or uses those of earlier turns again. @returns connections of both members of each */
  rooms(count: number): Promise<ConnectionSpec[]>;
  /** Removes what it created. @returns what that was, and what stays, a line each */
  close(): Promise<string[]>;
}

/** Members of a run: where they come from, and what becomes of them. */
interface Members {
  /** Authors and askers of as many rooms, different ones in each as far as possible. */
  pairs(count: number): Promise<[author: Author, asker: Author][]>;
  close(rooms: OpenedRoom[]): Promise<string[]>;
}

/** Prints a line for the user. */
type Say = (line: string) => void;

function roomsLine(rooms: OpenedRoom[]): string {
  return rooms.length > 0 ? `rooms ${ranges(rooms.map(({ room }) => room))}` : 'no rooms';
}

/** Two members of the run's own in each room, of whom the first is the author of a post. */
async function ownMembers(http: string, keep: boolean, say: Say): Promise<Members> {
  const accounts = await openOwnAccounts(http, runName(CLIENT));
  const { members } = accounts;
  return {
    async pairs(count) {
      const more = count * 2 - members.length;
      if (more > 0) {
        const after = keep ? 'all are kept' : 'all are removed afterwards';
        say(`${accounts.announced(more, 2)}, rooms about these, and messages in them; ${after}`);
        await accounts.create(more, 2);
      }
      return Array.from({ length: count }, (_, i) => [
        members[i * 2] as Author,
        members[i * 2 + 1] as Author,
      ]);
    },
    async close(rooms) {
      try {
        // Without a room, nothing was kept on purpose: the run failed at its beginning.
        if (!keep || rooms.length === 0) return await accounts.remove();
        const numbers = ranges(members.map(({ no }) => no));
        const posts = ranges(members.flatMap((member) => member.posts));
        const { email = '' } = members[0] ?? {};
        const addresses = `${email} to ${members.at(-1)?.email}`;
        return [`kept: members ${numbers} (${addresses}), adoption posts ${posts}, ${roomsLine(rooms)}`];
      } finally {
        await accounts.close();
      }
    },
  };
}

/**
 * Which of the members are authors of one of the newest posts, with that post: found by opening a room about it.
 * @param rooms gets those
 * @param signal ends the search
 */
async function authorsAmong(http: string, members: Author[], rooms: OpenedRoom[], signal: AbortSignal) {
  const authors: Author[] = [];
  await forEachConcurrently(members, CONCURRENCY, async (author, i) => {
    signal.throwIfAborted();
    const asker = members[(i + 1) % members.length] as Author;
    const opened = await openRoom(http, CLIENT, author, asker);
    if (!opened) return;
    authors.push({ ...author, posts: [opened.saleNo] });
    rooms.push(opened);
  });
  return authors;
}

const leftBehind = (rooms: OpenedRoom[]) => `left behind: ${roomsLine(rooms)}, and the messages in them`;

/** Members whose tokens the user has. */
async function tokenMembers(http: string, path: string, say: Say, signal: AbortSignal): Promise<Members> {
  const members = await readTokens(http, CLIENT, path);
  say(
    `${members.length} members of ${path} open rooms about each other's adoption posts, and write in them;`,
  );
  say('rooms and messages cannot be removed over the public interface, and stay');
  const found: OpenedRoom[] = [];
  const authors = await authorsAmong(http, members, found, signal).catch((error) => {
    say(leftBehind(found));
    throw error;
  });
  const all = authors.flatMap((author, round) =>
    members.map((_, i): [Author, Author] => {
      const asker = members[(i + round) % members.length] as Author;
      return [author, asker];
    }),
  );
  const pairs = all.filter(([author, asker]) => author.no !== asker.no);
  return {
    async pairs(count) {
      if (count > pairs.length)
        throw new InvalidArguments([
          `--tokens: its ${members.length} members, ${authors.length} of them authors of a post among the newest 50, can open ${pairs.length} rooms, not ${count}`,
        ]);
      return pairs.slice(0, count);
    },
    close: async (rooms) => [leftBehind([...found, ...rooms])],
  };
}

/** Whether an address is of this machine. */
async function isThisMachine(hostname: string): Promise<boolean> {
  const { address } = await lookup(hostname.replace(/^\[|\]$/g, ''));
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((one) => one.address === address);
}

/** Where sockets connect. @param gateway its URL */
function socketsAt(gateway: string): Target {
  const { hostname, port, protocol } = new URL(gateway);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  return { kind: 'socketio', host, port: Number(port || (secure ? 443 : 80)), ...(secure && { secure }) };
}

/**
 * Uses an installation that runs already. What is going to be created is said beforehand.
 * @param signal ends the opening of rooms
 * @throws Error naming the option, if the installation does not answer or has other settings; InvalidArguments
 */
export async function openRemoteTarget(
  options: LoadOptions,
  say: Say,
  signal: AbortSignal,
): Promise<RemoteTarget | undefined> {
  const addresses = remoteTargetOf(options);
  if (!addresses) return undefined;
  const { http, gateway } = addresses;
  for (const name of ['http', 'gateway'] as const) await requireReady(name, addresses[name]);
  const isHere = await isThisMachine(new URL(gateway).hostname);
  const { tokens, keep } = options;
  const members = tokens ? await tokenMembers(http, tokens, say, signal) : await ownMembers(http, keep, say);
  const rooms: OpenedRoom[] = [];
  return {
    sockets: socketsAt(gateway),
    isHere,
    async rooms(count) {
      const pairs = await members.pairs(count);
      await forEachConcurrently(pairs, CONCURRENCY, async ([author, asker], i) => {
        if (rooms[i]) return;
        signal.throwIfAborted();
        const opened = await openRoom(http, CLIENT, author, asker);
        if (!opened) throw new Error(`member ${asker.no} could not open a room with ${author.no}`);
        rooms[i] = opened;
      });
      return pairs.flatMap((pair, i) => pair.map(({ token }) => ({ token, room: rooms[i]?.room as number })));
    },
    // A turn that failed may have left some unopened.
    close: () => members.close(rooms.filter((room) => room !== undefined)),
  };
}
