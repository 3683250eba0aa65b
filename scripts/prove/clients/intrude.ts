import type { Account } from '../../run-accounts/accounts.js';
import type { RestCall } from '../../run-accounts/rest.js';
import { type Intrusion, type Manner, tries } from '../intrusions.js';
import type { Device } from './device.js';

/** A number that no record has. */
const MISSING = 900_000_000;

/** Tries in a row. */
const AT_ONCE = 6;

/** What one try is about. */
interface Aim {
  device: Device;
  manner: Manner;
  /** Number of the room, notification, comment or article. */
  on: number;
  /** A participant of the room other than the member; of a missing one, any other member. */
  other: Account;
}

const leaveFor = ({ on }: Aim, email: string) =>
  ({ method: 'POST', path: `/chatroom/${on}`, body: { email } }) as const;

const article = { categoryId: 1, title: 'Taken over', context: 'Not by its author.', imageList: [] };

/** The REST calls, and what they are tried on. */
const calls: Partial<
  Record<Intrusion, { of: Kind; call(aim: Aim): Pick<RestCall, 'method' | 'path' | 'body'> }>
> = {
  messages: { of: 'room', call: ({ on }) => ({ method: 'GET', path: `/chatroom/${on}` }) },
  push: {
    of: 'room',
    call: ({ on, device }) => ({
      method: 'POST',
      path: '/chatroom/notification',
      body: { chatNo: on, contentType: 'text', content: device.text(), sendTime: Date.now() },
    }),
  },
  leave: { of: 'room', call: (aim) => leaveFor(aim, aim.device.account.email) },
  'leave for another': { of: 'room', call: (aim) => leaveFor(aim, aim.other.email) },
  'leave for the other party': { of: 'own room', call: (aim) => leaveFor(aim, aim.other.email) },
  'check of a notification': {
    of: 'notification',
    call: ({ on }) => ({ method: 'PATCH', path: `/notification/checked/${on}` }),
  },
  'deletion of notifications': {
    of: 'notification',
    call: ({ on }) => ({ method: 'POST', path: '/notification', body: { idList: [on] } }),
  },
  'edit of a comment': {
    of: 'comment',
    call: ({ on, device }) => ({
      method: 'PATCH',
      path: '/community/comment',
      body: { id: on, context: device.text() },
    }),
  },
  'deletion of a comment': {
    of: 'comment',
    call: ({ on }) => ({ method: 'DELETE', path: `/community/comment/${on}` }),
  },
  'edit of an article': {
    of: 'article',
    call: ({ on }) => ({ method: 'PATCH', path: `/community/article/${on}`, body: article }),
  },
  'deletion of an article': {
    of: 'article',
    call: ({ on }) => ({ method: 'DELETE', path: `/community/article/${on}` }),
  },
};

/** The fields of the socket events beside the room's number. */
const events: Partial<Record<Intrusion, (device: Device) => object>> = {
  'room:join': () => ({ after: 0 }),
  'message:send': (device) => ({ contentType: 'text', content: device.text() }),
  'message:read': () => ({ seq: 1 }),
  typing: () => ({ typing: true }),
  'room:leave': () => ({}),
};

type Kind = 'room' | 'own room' | 'notification' | 'comment' | 'article';

/** Something of a kind that is not the member's, but of one of their own rooms. */
function aimAt(device: Device, of: Kind, manner: Manner): Aim | undefined {
  const { account, community, others, comments } = device;
  const isIn = ({ author, asker }: (typeof community.rooms)[0]) => author === account || asker === account;
  const rooms = community.rooms.filter((room) => isIn(room) === (of === 'own room'));
  const room = device.pick(rooms);
  const party = room?.author === account ? room?.asker : room?.author;
  const other = party ?? community.members.find((member) => member !== account);
  const found = {
    room: room?.room,
    'own room': room?.room,
    notification: device.pick(others.flatMap((one) => (one.account === account ? [] : one.notifications))),
    comment: device.pick(comments.filter(({ author }) => author !== account.no))?.id,
    article: device.pick(community.articles.filter(({ author }) => author !== account))?.article,
  }[of];
  const on = manner === 'foreign' ? found : (found ?? MISSING);
  if (on === undefined || !other) return undefined;
  return { device, manner, on: manner === 'missing' ? MISSING : on, other };
}

/** @returns undefined if it cannot be tried now */
function attempt(device: Device, call: Intrusion, manner: Manner): Promise<unknown> | undefined {
  if (call === 'connect') return device.app?.connectAs(manner);
  const event = events[call];
  const rest = calls[call];
  const aim = aimAt(device, rest?.of ?? 'room', manner);
  if (!aim) return undefined;
  if (event) return device.app?.door?.intrude(call, manner, aim.on, event(device));
  return rest && device.rest.intrude(call, manner, aim.on, rest.call(aim));
}

/** What is still to be tried, by community: all its clients together try everything, again and again. */
const queues = new WeakMap<object, (typeof tries)[number][]>();

/**
 * Tries what is not the member's to do, or what does not exist.
 * @param look reads comments and the member's notifications, which others then know, too
 */
export async function intrude(device: Device, look: (device: Device) => Promise<void>): Promise<void> {
  if (device.comments.length === 0 || device.notifications.length === 0) await look(device);
  const queue = queues.get(device.community) ?? [...tries];
  queues.set(device.community, queue);
  /** Of what this client cannot try now. */
  let skipped = 0;
  for (let tried = 0; tried < AT_ONCE && skipped < queue.length; ) {
    const [one] = queue.slice(skipped, skipped + 1) as [(typeof tries)[number]];
    const asking = attempt(device, one.call, one.manner);
    if (!asking) {
      skipped += 1;
      continue;
    }
    tried += 1;
    queue.push(...queue.splice(skipped, 1));
    await asking;
  }
}
