import { type Chat, createChat } from '../../domain/chat/index.js';
import { Message, type MessageRecord } from '../../domain/chat/message.model.js';
import type { RoomState } from '../../domain/chat/room-states.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { createEventBus } from '../../domain/kernel/events.js';
import { noLive } from '../../domain/kernel/live.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { unlimitedQuotas } from '../../domain/platform/rate-limits/index.js';
import { type Member, member } from './api.js';
import { eventually } from './eventually.js';
import type { Reply, RestClient } from './rest.js';
import { service } from './service.js';

export interface OpenedRoom<M = Member> {
  /** Author of the adoption post, and so the creating member. */
  author: M;
  /** The member who asked about it, and so the joining member. */
  asker: M;
  saleNo: number;
  chatNo: number;
}

/** An adoption post by a new member, or the given one. */
export async function adoptionPost(author: Member, title = 'Bori, a gentle Jindo mix'): Promise<number> {
  const { domain } = await service();
  return domain.adoption.savePost({
    title,
    authorNo: author.no,
    name: 'Bori',
    age: '2살',
    kind: 'dog',
    latitude: 37.5665,
    longitude: 126.978,
    thumbnail: '',
  });
}

/** A chat room of two new members about a new adoption post, opened over REST. */
export async function openRoom(): Promise<OpenedRoom> {
  const [author, asker] = [await member(), await member()];
  const saleNo = await adoptionPost(author);
  return { author, asker, saleNo, chatNo: await openChat(asker, saleNo, author.no) };
}

type Caller = Pick<RestClient, 'get' | 'post'>;

/** Opens a room over REST. @returns its number */
export async function openChat(asker: Caller, saleNo: number, createMember: number): Promise<number> {
  const opened = await asker.post('/chatroom', { saleNo, createMember });
  if (opened.status !== 200) throw new Error(`no room: ${opened.text}`);
  const { body } = await asker.get<{ chatNo: number }[]>(`/chatroom?saleNo=${saleNo}`);
  return body[0]?.chatNo as number;
}

/** Unread messages of the first room that a member's list shows. */
export async function unreadOf(who: Pick<Caller, 'get'>): Promise<number | undefined> {
  const { body } = await who.get<{ unReadCount: number }[]>('/chatroom');
  return body[0]?.unReadCount;
}

/** The texts of a room's messages over REST; marks them read. */
export async function contentsOf(who: Pick<Caller, 'get'>, chatNo: number): Promise<string[]> {
  const { body } = await who.get<{ chatList: { content: string }[] }>(`/chatroom/${chatNo}`);
  return body.chatList.map(({ content }) => content);
}

/** The documented push payload of a new message, as the legacy client fills it. */
export function push(chatNo: number, saleNo: number, content: string, more: object = {}): object {
  return {
    id: null,
    chatNo,
    contentType: 'text',
    content,
    senderName: null,
    senderNo: null,
    saleNo,
    sendTime: Date.now(),
    readCount: null,
    senderEmail: null,
    ...more,
  };
}

/** Pushes such a message to a room. */
export function pushTo<T = { id: string }>(
  { chatNo, saleNo }: Pick<OpenedRoom, 'chatNo' | 'saleNo'>,
  who: Pick<Caller, 'post'>,
  content: string,
  more: object = {},
): Promise<Reply<T>> {
  return who.post<T>('/chatroom/notification', push(chatNo, saleNo, content, more));
}

/** A member's notifications once the newest is this one: a send is answered before the recipient is notified. */
export function listedWith<T extends { content: string }>(who: Member, content: string): Promise<T[]> {
  return eventually(async () => {
    const { body } = await who.get<T[]>('/notification/all');
    if (body[0]?.content !== content)
      throw new Error(`the newest notification is ${JSON.stringify(body[0])}`);
    return body;
  });
}

/**
 * How often a member was notified so far. Sends a further message and waits for its notification first: notifications
 * follow the order of the messages, so no earlier one is pending then.
 */
export async function timesNotified(
  who: Member,
  from: Member,
  room: Pick<OpenedRoom, 'chatNo' | 'saleNo'>,
): Promise<number> {
  const content = 'the next one';
  await pushTo(room, from, content);
  await listedWith(who, content);
  return (await Notification.countDocuments({ memberNo: who.no })) - 1;
}

/** The chat of another process on the service's database; it shares no memory with the service. */
export async function anotherChat(given: Partial<Parameters<typeof createChat>[0]> = {}): Promise<Chat> {
  const { domain, config } = await service();
  return createChat({
    clock: systemClock,
    events: createEventBus(),
    live: noLive,
    logger: createLogger('silent', 'test'),
    config,
    directory: domain.members.directory,
    adoption: domain.adoption,
    quotas: unlimitedQuotas,
    ...given,
  });
}

/** The state of an empty room of members 1 and 2 that nobody has read, with these fields. */
export const roomState = (fields: Partial<RoomState>): RoomState => ({
  chatNo: 7,
  saleNo: 1,
  creator: 1,
  joiner: 2,
  createdAt: new Date(0),
  seq: 0,
  sent: { creator: 0, joiner: 0 },
  read: { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } },
  ...fields,
});

/**
 * Records of the first messages of a room, all from its joining member.
 * @param more further fields of each record
 */
export function messageRecords(
  chatNo: number,
  senderNo: number,
  count: number,
  more: (i: number) => Partial<MessageRecord> = () => ({}),
): MessageRecord[] {
  const nobody = { seq: 0, others: 0 };
  return Array.from({ length: count }, (_, i) => ({
    _id: `stored-${chatNo}-${i}`,
    chatNo,
    seq: i + 1,
    senderNo,
    contentType: 'text' as const,
    content: `${i}`,
    sentAt: new Date(),
    sent: { creator: 0, joiner: i + 1 },
    read: { creator: nobody, joiner: nobody },
    ...more(i),
  }));
}

/** Stores such records in the database directly. */
export async function storeMessages(...what: Parameters<typeof messageRecords>): Promise<MessageRecord[]> {
  const records = messageRecords(...what);
  await Message.collection.insertMany(records as never[]);
  return records;
}
