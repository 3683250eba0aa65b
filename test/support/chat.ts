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
  /** The member who asked about it, and so the joining member. */
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
  chatNo: number,
  saleNo: number,
): Promise<number> {
  const content = 'the next one';
  await from.post('/chatroom/notification', push(chatNo, saleNo, content));
  await listedWith(who, content);
  return (await Notification.countDocuments({ memberNo: who.no })) - 1;
}

/** The chat of another process on the service's database; it shares no memory with the service. */
export async function anotherChat(given: Partial<Parameters<typeof createChat>[0]> = {}): Promise<Chat> {
  const { domain, config } = await service();
  return createChat({
    ...{ clock: systemClock, events: createEventBus(), live: noLive, logger: createLogger('silent', 'test') },
    ...{ config, directory: domain.members.directory, adoption: domain.adoption },
    ...given,
  });
}

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
