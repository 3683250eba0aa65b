import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from './device.js';
import { intrude as tryOn } from './intrude.js';

/** What a client may do, each once. All take their choices from the client's random numbers. */
type Action = (device: Device) => unknown;

/** Messages that are sent at once: so many waiting ones of a room share an insert. */
const BURST = 10;

/** Members send together at multiples of this time, ms. */
const MEET_MS = 250;

/** Messages of a REST page, and most pages that a client reads in a row. */
const PAGE = 40;
const MAX_PAGES = 12;

/** Longest absence, ms, of a client and of its stream alone. */
const AWAY_MS = 5_000;
const STREAM_AWAY_MS = 2_500;

async function send(device: Device): Promise<void> {
  const chosen = device.pick(device.rooms);
  if (!chosen) return;
  if (device.choose(3) === 0) await device.meet(MEET_MS);
  await device.send(device.newMessage(chosen.room));
}

/** The first room of a member gets the bursts: some rooms are to be long. */
async function burst(device: Device): Promise<void> {
  const [first] = device.rooms;
  if (!first) return;
  await device.meet(MEET_MS * 4);
  await Promise.all(Array.from({ length: BURST }, () => device.send(device.newMessage(first.room))));
}

/** Sends what is acknowledged again, as a client does that has lost the acknowledgement. */
async function repeat(device: Device): Promise<void> {
  const sent = device.pick(device.sent);
  if (sent) await device.send(sent.message, sent.sendTime);
}

/** Loses an acknowledgement: the connection ends before it arrives. */
async function loseAck(device: Device): Promise<void> {
  const chosen = device.pick(device.rooms);
  if (!chosen || !device.app?.door) return;
  const sending = device.send(device.newMessage(chosen.room));
  if (device.choose(2) === 0) await new Promise(setImmediate);
  device.app.drop(0);
  await sending;
}

async function enterOrLeave(device: Device): Promise<void> {
  const { app } = device;
  const chosen = device.pick(device.rooms);
  if (!app || !chosen) return;
  if (app.rooms.includes(chosen.room) && device.choose(3) === 0) await app.leave(chosen.room);
  else await app.enter(chosen.room);
}

async function read(device: Device): Promise<void> {
  const { app } = device;
  const chosen = device.pick(device.rooms);
  if (!app?.door || !chosen) return;
  const last = app.lastOf(chosen.room);
  if (last > 0) await app.door.read(chosen.room, last - device.choose(Math.min(last, 5)));
}

const typing: Action = (device) => {
  const room = device.pick(device.app?.rooms ?? []);
  if (room !== undefined) device.app?.door?.typing(room, device.choose(2) === 0);
};

/** Reads a room from its end backwards, page by page. */
async function page(device: Device): Promise<void> {
  const chosen = device.pick(device.rooms);
  let before: string | undefined;
  for (let pages = 0; chosen && pages < MAX_PAGES; pages += 1) {
    const { ok } = await device.rest.messages(chosen.room, PAGE, before);
    before = ok?.messages[0]?.id;
    if (before === undefined) return;
  }
}

async function comments(device: Device): Promise<void> {
  const article = device.pick(device.articles);
  if (article === undefined) return;
  const { ok } = await device.rest.comments(article);
  if (!ok) return;
  device.comments = ok.comments.filter(({ deleted }) => !deleted).map((one) => ({ ...one, article }));
}

async function comment(device: Device): Promise<void> {
  const above = device.choose(2) === 0 ? device.pick(device.comments) : undefined;
  const article = above?.article ?? device.pick(device.articles);
  if (article !== undefined) await device.rest.comment(article, device.text(), above?.parent ?? above?.id);
}

async function uncomment(device: Device): Promise<void> {
  const mine = device.pick(device.comments.filter(({ author }) => author === device.account.no));
  if (mine) await device.rest.uncomment(mine.article, mine.id);
}

async function heart(device: Device): Promise<void> {
  const seen = device.choose(2) === 0 ? device.pick(device.comments) : undefined;
  const id = seen?.id ?? device.pick(device.articles);
  if (id === undefined) return;
  const target = seen ? 'comment' : 'article';
  if (device.choose(3) === 0) await device.rest.unheart(target, id);
  else await device.rest.heart(target, id);
}

async function bookmark(device: Device): Promise<void> {
  const article = device.pick(device.articles);
  if (article === undefined) return;
  if (device.choose(3) === 0) await device.rest.unbookmark(article);
  else await device.rest.bookmark(article);
}

async function article(device: Device): Promise<void> {
  const chosen = device.pick(device.articles);
  if (chosen !== undefined) await device.rest.article(chosen);
}

async function notifications(device: Device): Promise<void> {
  const { ok } = await device.rest.notifications();
  if (ok) device.notifications = ok.notifications.map(({ id }) => id);
}

async function check(device: Device): Promise<void> {
  const chosen = device.pick(device.notifications);
  if (chosen !== undefined) await device.rest.check(chosen);
}

async function remove(device: Device): Promise<void> {
  const some = device.notifications.filter(() => device.choose(10) === 0).slice(0, 5);
  if (some.length > 0) await device.rest.delete(some);
}

const away: Action = (device) => {
  const pauseMs = device.choose(AWAY_MS);
  device.app?.drop(pauseMs);
  device.stream?.drop(pauseMs);
  return sleep(pauseMs);
};

/** The stream comes back after a while: what was notified meanwhile is replayed. */
const dropStream: Action = (device) => device.stream?.drop(device.choose(STREAM_AWAY_MS));

async function postBack(device: Device): Promise<void> {
  const others = device.received.filter(({ senderNo }) => senderNo !== device.account.no);
  const payload = device.pick(others);
  if (payload) await device.rest.postBack(payload, device.choose(2) === 0);
}

const intrude: Action = (device) =>
  tryOn(device, async () => {
    await comments(device);
    await notifications(device);
  });

/** Closes the page of a room: the legacy app says so by REST. It is the member's only client. */
async function closePage(device: Device): Promise<void> {
  const room = device.pick(device.app?.rooms ?? []);
  if (room === undefined) return;
  device.app?.forget(room);
  const { ok } = await device.rest.leave(room);
  if (!ok) device.app?.drop(0);
}

/** What each kind of client does, and how often in 100. */
const common: [number, Action][] = [
  [4, (device) => device.rest.rooms()],
  [4, page],
  [5, article],
  [6, comments],
  [5, comment],
  [2, uncomment],
  [6, heart],
  [3, bookmark],
  [4, notifications],
  [2, check],
  [1, remove],
  [2, dropStream],
  [2, repeat],
  [2, intrude],
];
const bySocket: [number, Action][] = [
  [8, enterOrLeave],
  [5, read],
  [5, typing],
  [2, away],
];
const actions: Record<Device['kind'], [number, Action][]> = {
  socket: [...common, ...bySocket, [30, send], [3, burst], [1, loseAck]],
  rest: [...common, [30, send], [2, burst]],
  legacy: [...common, ...bySocket, [25, send], [5, postBack], [2, closePage]],
};

/**
 * What each client does at least once, in this order, between the actions that it chooses: the paths of a service that are
 * rarely taken are to be taken in short runs, too. A stream comes back when its member has been notified, most likely.
 */
export const rareActions: readonly Action[] = [
  ...[send, intrude, repeat, loseAck, burst, dropStream, repeat, dropStream, intrude],
];

/** Does one thing that clients of this kind do. */
export async function act(device: Device): Promise<void> {
  const list = actions[device.kind];
  const total = list.reduce((sum, [weight]) => sum + weight, 0);
  let chosen = device.choose(total);
  for (const [weight, action] of list) {
    chosen -= weight;
    if (chosen < 0) {
      await action(device);
      return;
    }
  }
}
