import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrently } from '../load/pacing.js';
import type { Account } from '../run-accounts/accounts.js';
import { RestDoor } from './clients/rest-door.js';
import { SocketDoor } from './clients/socket-door.js';
import type { Community } from './community.js';
import type { HistoryFile } from './history-file.js';
import type { Served } from './served.js';

/** Members who read at the same time. */
const CONCURRENCY = 8;

/** Messages of a page. */
const PAGE = 200;

/** Most bookmarks that each member asks for. */
const BOOKMARKS = 10;

/** Longest time, ms, until a read is answered, and the pause between attempts: a busy service may refuse some. */
const WITHIN_MS = 30_000;
const PAUSE_MS = 1_000;

const noEvents = { message() {}, drain() {}, closed() {} };

/** Repeats a read until it is answered. @throws Error naming it */
async function answered<T>(what: string, ask: () => Promise<{ ok?: T | undefined }>): Promise<T> {
  const until = performance.now() + WITHIN_MS;
  do {
    const { ok } = await ask();
    if (ok !== undefined) return ok;
    await sleep(PAUSE_MS);
  } while (performance.now() < until);
  throw new Error(`${what} could not be read at the end, when nothing disturbed it any more`);
}

async function readLists(door: RestDoor, processes: Served[]): Promise<void> {
  for (const served of processes) await answered('a room list', () => door.at(served).rooms());
  await answered('a notification list', () => door.notifications());
}

/** Reads all messages of a room over REST, from the end. */
async function readPages(door: RestDoor, room: number): Promise<void> {
  let before: string | undefined;
  do {
    const { messages } = await answered(`room ${room}`, () => door.messages(room, PAGE, before));
    before = messages[0]?.id;
  } while (before !== undefined);
}

/** Reads all messages of rooms by a socket, from the beginning. */
async function joinAll(
  history: HistoryFile,
  account: Account,
  client: string,
  gateway: Served,
  rooms: number[],
): Promise<void> {
  const open = async () => ({ ok: await SocketDoor.open(history, account, client, gateway, noEvents) });
  const door = await answered(`a socket of ${client}`, open);
  for (const room of rooms) {
    let last = 0;
    for (let more = true; more; ) {
      const enter = (seq: number | undefined) => {
        last = seq ?? last;
      };
      ({ more } = await answered(`room ${room}`, () => door.join(room, last, enter)));
    }
  }
  door.close();
}

async function readArticles(door: RestDoor, articles: Community['articles']): Promise<void> {
  for (const { article } of articles) {
    await answered(`article ${article}`, () => door.article(article));
    await answered(`the comments of article ${article}`, () => door.comments(article));
  }
}

/** Nothing shows bookmarks: whether one is there, only the answer to another tells. */
async function setBookmarks(door: RestDoor, articles: Community['articles']): Promise<void> {
  for (const { article } of articles.slice(0, BOOKMARKS)) {
    await answered(`a bookmark of article ${article}`, async () => {
      const { ok, refused } = { refused: undefined, ...(await door.bookmark(article)) };
      return { ok: refused === 409 ? {} : ok };
    });
  }
}

/**
 * Reads everything through every door, as every member. What changes nothing comes first: reading a room marks it read.
 * @throws Error if something cannot be read
 */
export async function readEverything(
  history: HistoryFile,
  { members, rooms, articles }: Community,
  servers: Served[],
): Promise<void> {
  const processes = servers.filter(({ door }) => door === 'http');
  const gateways = servers.filter(({ door }) => door === 'gateway');
  const readers = members.map((account, i) => {
    const client = `m${i + 1}.final`;
    const address = () => processes[i % processes.length] as Served;
    const mine = rooms.filter(({ author, asker }) => author === account || asker === account);
    const door = new RestDoor(history, account, client, address);
    return { account, client, door, rooms: mine.map(({ room }) => room) };
  });
  const all = (read: (reader: (typeof readers)[number], i: number) => Promise<void>) =>
    forEachConcurrently(readers, CONCURRENCY, read);
  const lists = () => all(({ door }) => readLists(door, processes));
  await lists();
  await all(({ account, client, rooms: mine }, i) =>
    joinAll(history, account, client, gateways[i % gateways.length] as Served, mine),
  );
  await all(async ({ door, rooms: mine }) => {
    for (const room of mine) await readPages(door, room);
  });
  const [first] = readers;
  if (first) await readArticles(first.door, articles);
  await all(({ door }) => setBookmarks(door, articles));
  // Now every message is read.
  await lists();
}
