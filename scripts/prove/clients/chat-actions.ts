import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Choice } from './actions.js';
import type { Device } from './device.js';

/** Messages that are sent at once: so many waiting ones of a room share an insert. */
const BURST = 10;

/** Members send together at multiples of this time, ms. */
const MEET_MS = 250;

/** Most messages of a REST page, and most pages that a client reads in a row. */
const PAGE = 40;
const MAX_PAGES = 12;

/** Of a page when a room is read up to its first message. */
const LONG_PAGE = 200;

/** A catch-up holds 500 messages at most (PROTOCOL, limits): the first room gets more, so many at once. */
const LONG_ROOM = 520;
const AT_ONCE = 40;

/** Longest absence of a client, ms, and longest time between the leaves of its two tabs. */
const AWAY_MS = 5_000;
const TABS_MS = 800;

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
  if (device.sent.length === 0) await send(device);
  const sent = device.pick(device.sent);
  if (sent) await device.send(sent.message, sent.sendTime);
}

/** Sends a message twice at the same moment, if it can by two processes, as two tabs do that share their outbox. */
async function sendTwice(device: Device): Promise<void> {
  const chosen = device.pick(device.rooms);
  if (!chosen) return;
  const message = device.newMessage(chosen.room);
  const sendTime = Date.now();
  const tab = device.kind === 'socket' ? await device.openTab() : undefined;
  const again = tab ? tab.send(message) : device.send(message, sendTime);
  await Promise.all([device.send(message, sendTime), again]);
  tab?.close();
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

/** A member's second tab, by another gateway where there is one: both leave the room within a second. */
async function leaveByTwoTabs(device: Device): Promise<void> {
  const { app } = device;
  const chosen = device.pick(device.rooms);
  if (!app || !chosen) return;
  await app.enter(chosen.room);
  const tab = await device.openTab();
  await tab?.join(chosen.room, app.lastOf(chosen.room), () => {});
  const later = async () => {
    await sleep(device.choose(TABS_MS));
    if (device.choose(2) === 0) await tab?.leave(chosen.room);
    tab?.close();
  };
  await Promise.all([app.leave(chosen.room), later()]);
}

async function read(device: Device): Promise<void> {
  const { app } = device;
  const chosen = device.pick(device.rooms);
  if (!app?.door || !chosen) return;
  const last = app.lastOf(chosen.room);
  if (last > 0) await app.door.read(chosen.room, last - device.choose(Math.min(last, 5)));
}

/** A room of the member's list with unread messages that its app has not opened. */
async function unreadRoom(device: Device): Promise<number | undefined> {
  const { ok } = { ok: undefined, ...(await device.rest.rooms()) };
  const unread = ok?.rooms.filter(({ room, unread }) => unread > 0 && !device.app?.rooms.includes(room));
  return device.pick(unread ?? [])?.room;
}

/** Reads a room by REST that it has not opened. */
async function readUnopened(device: Device): Promise<void> {
  const room = await unreadRoom(device);
  if (room !== undefined) await device.rest.messages(room, PAGE);
}

/** Answers in a room that it has not opened, and says that it has read what was there: its own message has the highest number. */
async function answerUnopened(device: Device): Promise<void> {
  const room = await unreadRoom(device);
  const tab = room !== undefined && (await device.openTab());
  if (!tab) return;
  const { ok: sent } = await tab.send(device.newMessage(room));
  if (sent?.seq !== undefined) await tab.read(room, sent.seq);
  tab.close();
}

const typing: Action = (device) => {
  const room = device.pick(device.app?.rooms ?? []);
  if (room !== undefined) device.app?.door?.typing(room, device.choose(2) === 0);
};

/** Reads a room from its end backwards, page by page. @param between what it does while it waits for each further one */
async function readPages(
  device: Device,
  limit: number,
  mostPages: number,
  between?: (room: number) => Promise<unknown>,
): Promise<void> {
  const chosen = device.pick(device.rooms);
  let before: string | undefined;
  for (let pages = 0; chosen && pages < mostPages; pages += 1) {
    const page = device.rest.messages(chosen.room, limit, before);
    if (pages > 0) await between?.(chosen.room);
    const { ok } = await page;
    before = ok?.messages[0]?.id;
    if (before === undefined) return;
  }
}

const page: Action = (device) => readPages(device, 5 + device.choose(PAGE - 4), MAX_PAGES);

/** Reads a room up to its first message. */
const readToBeginning: Action = (device) => readPages(device, LONG_PAGE, Number.POSITIVE_INFINITY);

/** Writes while it reads older pages. */
const pageAndSend: Action = (device) =>
  readPages(device, 5, 3, (room) => device.send(device.newMessage(room)));

/** Fills the first room of all, and reads it as an app that has lost what it knew. */
async function catchUpLong(device: Device): Promise<void> {
  const { app, longRoom } = device;
  if (!app?.door || longRoom === undefined) return;
  await app.enter(longRoom);
  for (let left = LONG_ROOM - app.lastOf(longRoom); left > 0 && app.door; left -= AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => device.send(device.newMessage(longRoom))));
  await app.forgetAll(longRoom);
  await app.enter(longRoom);
}

const away: Action = (device) => {
  const pauseMs = device.choose(AWAY_MS);
  device.app?.drop(pauseMs);
  device.stream?.drop(pauseMs);
  return sleep(pauseMs);
};

async function postBack(device: Device): Promise<void> {
  const others = device.received.filter(({ senderNo }) => senderNo !== device.account.no);
  const payload = device.pick(others);
  if (payload) await device.rest.postBack(payload, device.choose(2) === 0);
}

/** Closes the page of a room: the legacy app says so by REST. It is the member's only client. */
async function closePage(device: Device): Promise<void> {
  const room = device.pick(device.app?.rooms ?? []);
  if (room === undefined) return;
  device.app?.forget(room);
  const { ok } = await device.rest.leave(room);
  if (!ok) device.app?.drop(0);
}

/** Asks about a post, twice at the same moment and once more. */
async function openRoom(device: Device): Promise<void> {
  const { account, community, rest } = device;
  const others = community.rooms.filter(({ author }) => author !== account);
  const post = device.pick(others);
  if (!post) return;
  const open = () => rest.openRoom(post.saleNo, post.author.no);
  await Promise.all([open(), open()]);
  await open();
  await rest.rooms();
}

/** Extends its connection. */
const refresh: Action = (device) => device.app?.door?.refresh();

/** By socket and by legacy apps, which have one, too. */
const connected = (weight: number) => ({ socket: weight, legacy: weight });
const all = (weight: number) => ({ ...connected(weight), rest: weight });

export const chatChoices: readonly Choice[] = [
  {
    act: send,
    weights: { socket: 30, rest: 30, legacy: 25 },
    reaches: [
      'receive.message.send',
      'pushChatNotification',
      'send.message',
      'send.room',
      'send.notification',
      'send.sse',
      'absentRecipients',
    ],
  },
  { act: burst, weights: { socket: 3, rest: 2 }, reaches: ['imageMessages'] },
  { act: repeat, weights: all(2), reaches: ['retriedSends', 'retriedPushes'] },
  { act: sendTwice, weights: all(1), reaches: ['racingKeys'] },
  { act: loseAck, weights: { socket: 1 }, reaches: [] },
  {
    act: enterOrLeave,
    weights: connected(8),
    reaches: ['receive.room.join', 'receive.room.leave', 'send.presence', 'arrivalsTold', 'departuresTold'],
  },
  {
    act: leaveByTwoTabs,
    weights: { socket: 1 },
    reaches: ['tabsLeft', 'departuresTold', 'pollingSockets', 'upgradedSockets'],
  },
  { act: read, weights: connected(5), reaches: ['receive.message.read'] },
  {
    act: answerUnopened,
    weights: { socket: 1, rest: 1 },
    reaches: ['movedReads', 'send.message.read', 'readsTold'],
  },
  { act: readUnopened, weights: connected(3), reaches: ['readsTold'] },
  { act: typing, weights: connected(5), reaches: ['receive.typing', 'send.typing', 'typingTold'] },
  { act: (device) => device.rest.rooms(), weights: all(4), reaches: ['listChatRooms'] },
  { act: page, weights: all(4), reaches: ['listMessages', 'secondPages'] },
  { act: readToBeginning, weights: all(1), reaches: ['lastPages'] },
  { act: pageAndSend, weights: all(1), reaches: ['pagesWhileSending'] },
  { act: catchUpLong, weights: { socket: 0 }, reaches: ['catchUpsWithMore'] },
  { act: openRoom, weights: all(1), reaches: ['createChatRoom', 'racingRooms', 'repeatedRooms'] },
  { act: refresh, weights: connected(1), reaches: ['receive.auth.refresh'] },
  { act: away, weights: connected(2), reaches: [] },
  { act: postBack, weights: { legacy: 5 }, reaches: ['postbacks'] },
  { act: closePage, weights: { legacy: 2 }, reaches: ['disconnectFromRoom'] },
];
