import { type Chat, createChat } from '../../domain/chat/index.js';
import { Message, type MessageRecord } from '../../domain/chat/message.model.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { createEventBus } from '../../domain/kernel/events.js';
import { noLive } from '../../domain/kernel/live.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import { createLogger } from '../../domain/platform/logger.js';
import { type Member, member } from './api.js';
import { eventually } from './eventually.js';
import { service } from './service.js';

export interface OpenedRoom {
  /** Author of the adoption post, and so the creating member. */
  author: Member;
  /** Who asked about it, and so the joining member. */
  asker: Member;
  saleNo: number;
  saleTitle: string;
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
  const saleTitle = `A post by ${author.nickname}`;
  const saleNo = await adoptionPost(author, saleTitle);
  const opened = await asker.post('/chatroom', { saleNo, createMember: author.no });
  if (opened.status !== 200) throw new Error(`no room: ${opened.text}`);
  const { body } = await asker.get<{ chatNo: number }[]>('/chatroom');
  return { author, asker, saleNo, saleTitle, chatNo: body[0]?.chatNo as number };
}

/** The documented payload as the legacy client fills it for a new message. */
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

/** The member's notifications once the newest is this one: a sender is answered before the recipient is notified. */
export function listedWith<T extends { content: string }>(who: Member, content: string): Promise<T[]> {
  return eventually(async () => {
    const { body } = await who.get<T[]>('/notification/all');
    if (body[0]?.content !== content)
      throw new Error(`the newest notification is ${JSON.stringify(body[0])}`);
    return body;
  });
}

/**
 * How many times a member was notified so far. The next message to them is awaited first: they are notified
 * in the order of the messages, so nothing is on its way then.
 */
export async function timesNotified(
  who: Member,
  from: Member,
  chatNo: number,
  saleNo: number,
): Promise<number> {
  const content = 'the next one';
  await from.post('/chatroom/notification', push(chatNo, saleNo, content));
  await listedWith(who, content);
  return (await Notification.countDocuments({ memberNo: who.no })) - 1;
}

/** The chat of another process on the service's database, which knows nothing of what others do in memory. */
export async function anotherChat(given: Partial<Parameters<typeof createChat>[0]> = {}): Promise<Chat> {
  const { domain, config } = await service();
  return createChat({
    ...{ clock: systemClock, events: createEventBus(), live: noLive, logger: createLogger('silent', 'test') },
    ...{ config, directory: domain.members.directory, adoption: domain.adoption },
    ...given,
  });
}

/**
 * The first messages of a room as records, all from its joining member.
 * @param more of each record
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

/** Stores such records past all processes. */
export async function storeMessages(...what: Parameters<typeof messageRecords>): Promise<MessageRecord[]> {
  const records = messageRecords(...what);
  await Message.collection.insertMany(records as never[]);
  return records;
}
