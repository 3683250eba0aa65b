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

/** Articles of a page of the list, and most pages: elsewhere there may be many more than the run's. */
const ARTICLE_PAGE = 20;
const MAX_ARTICLE_PAGES = 20;

/** Most bookmarks that each member asks for. */
const BOOKMARKS = 10;

/** Longest time, ms, until a read is answered, and the pause between attempts: a busy service may refuse some. */
const WITHIN_MS = 30_000;
const PAUSE_MS = 1_000;

const noEvents = { message() {}, drain() {}, closed() {} };

/** A member's last client. */
interface Reader {
  account: Account;
  client: string;
  door: RestDoor;
  /** Numbers of the member's rooms. */
  rooms: number[];
  /** Tells that nothing more is to be asked. */
  stop: AbortSignal;
}

/** Repeats a read until it is answered. @throws Error naming it; the reason of `stop` */
async function answered<T>(
  stop: AbortSignal,
  what: string,
  ask: () => Promise<{ ok?: T | undefined }>,
): Promise<T> {
  const until = performance.now() + WITHIN_MS;
  do {
    stop.throwIfAborted();
    const { ok } = await ask();
    if (ok !== undefined) return ok;
    await sleep(PAUSE_MS, undefined, { signal: stop });
  } while (performance.now() < until);
  throw new Error(`${what} could not be read at the end, when nothing disturbed it any more`);
}

async function readLists({ door, stop }: Reader, processes: Served[]): Promise<void> {
  for (const served of processes) await answered(stop, 'a room list', () => door.at(served).rooms());
  await answered(stop, 'a notification list', () => door.notifications());
}

/** Reads all messages of the rooms over REST, from the end. */
async function readPages({ door, rooms, stop }: Reader): Promise<void> {
  for (const room of rooms) {
    let before: string | undefined;
    do {
      const { messages } = await answered(stop, `room ${room}`, () => door.messages(room, PAGE, before));
      before = messages[0]?.id;
    } while (before !== undefined);
  }
}

/** Reads all messages of the rooms by a socket, from the beginning. */
async function joinAll(
  history: HistoryFile,
  { account, client, rooms, stop }: Reader,
  gateway: Served,
): Promise<void> {
  const open = async () => ({ ok: await SocketDoor.open(history, account, client, gateway, noEvents) });
  const door = await answered(stop, `a socket of ${client}`, open);
  try {
    for (const room of rooms) {
      let last = 0;
      for (let more = true; more; ) {
        const enter = (seq: number | undefined) => {
          last = seq ?? last;
        };
        ({ more } = await answered(stop, `room ${room}`, () => door.join(room, last, enter)));
      }
    }
  } finally {
    door.close();
  }
}

/** Reads the whole list of articles from each process, in both orders, and the map. */
async function listArticles({ door, stop }: Reader, processes: Served[]): Promise<void> {
  for (const served of processes) {
    for (const order of ['recent', 'like'] as const) {
      for (let page = 1; page <= MAX_ARTICLE_PAGES; page += 1) {
        const { list } = await answered(stop, 'the list of articles', () =>
          door.at(served).articles(order, page, ARTICLE_PAGE),
        );
        if (list.length < ARTICLE_PAGE) break;
      }
    }
    await answered(stop, 'the adoption listing', () => door.at(served).render());
  }
}

async function readArticles({ door, stop }: Reader, articles: Community['articles']): Promise<void> {
  for (const { article } of articles) {
    await answered(stop, `article ${article}`, () => door.article(article));
    await answered(stop, `the comments of article ${article}`, () => door.comments(article));
  }
}

/** Nothing shows bookmarks: whether one is there, only the answer to another tells. */
async function setBookmarks({ door, stop }: Reader, articles: Community['articles']): Promise<void> {
  for (const { article } of articles.slice(0, BOOKMARKS)) {
    await answered(stop, `a bookmark of article ${article}`, async () => {
      const { ok, refused } = { refused: undefined, ...(await door.bookmark(article)) };
      return { ok: refused === 409 ? {} : ok };
    });
  }
}

/**
 * Reads everything through every door, as every member. What changes nothing comes first: reading a room marks it read.
 * When it has ended, in whatever way, nothing of it is under way.
 * @param away members who have no client any more: they enter their rooms after the others, who see first whether they are absent
 * @param signal ends it early
 * @throws Error if something cannot be read; the reason of `signal`
 */
export async function readEverything(
  history: HistoryFile,
  { members, rooms, articles }: Community,
  servers: Served[],
  away: readonly Account[],
  signal: AbortSignal,
): Promise<void> {
  const processes = servers.filter(({ door }) => door === 'http');
  const gateways = servers.filter(({ door }) => door === 'gateway');
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const readers = members.map((account, i): Reader => {
    const client = `m${i + 1}.final`;
    const address = () => processes[i % processes.length] as Served;
    const mine = rooms.filter(({ author, asker }) => author === account || asker === account);
    const door = new RestDoor(history, account, client, address);
    return { account, client, door, rooms: mine.map(({ room }) => room), stop };
  });
  // The first failure stops the others, which are waited for.
  const all = async (read: (reader: Reader, i: number) => Promise<void>, some = readers) => {
    await forEachConcurrently(some, CONCURRENCY, (reader, i) =>
      read(reader, i).catch((error) => failed.abort(error)),
    );
    stop.throwIfAborted();
  };
  const lists = () => all((reader) => readLists(reader, processes));
  await lists();
  const join = (reader: Reader, i: number) =>
    joinAll(history, reader, gateways[i % gateways.length] as Served);
  await all(
    join,
    readers.filter(({ account }) => !away.includes(account)),
  );
  await all(
    join,
    readers.filter(({ account }) => away.includes(account)),
  );
  await all(readPages);
  const [first] = readers;
  if (first) await listArticles(first, processes);
  if (first) await readArticles(first, articles);
  await all((reader) => setBookmarks(reader, articles));
  // Now every message is read.
  await lists();
}
