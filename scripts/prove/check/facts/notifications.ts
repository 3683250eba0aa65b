import type { Delivery, Invoke, SeenNotification } from '../../history.js';
import type { Asked } from '../rule.js';
import type { Comments, SentComment } from './comments.js';
import { type Messages, otherOf, type SentMessage } from './messages.js';

/** What notifies somebody. */
export type Cause =
  | { kind: 'chat'; message: SentMessage; recipient: number; askedAt: number }
  | { kind: 'comment'; comment: SentComment; recipient: number | undefined; askedAt: number };

/** A notification that somebody was shown. */
export interface NotificationRecord {
  readonly id: number;
  readonly type: string;
  readonly content: string;
  readonly url: string;
  readonly name: string;
  /** Local ms. */
  readonly at: number;
  readonly member: number;
  readonly seenAt: number;
  readonly cause: Cause | undefined;
  /** Its number on the member's streams. */
  n?: number;
  /** When it was first asked to be checked, and that was acknowledged. */
  checkAskedAt?: number;
  checkedAt?: number;
  /** When its deletion was first asked for, and acknowledged. */
  deletionAskedAt?: number;
  deletedAt?: number;
}

/** Content of fewer UTF-16 code units is shown whole: a code point has one or two (domain/notifications/notifier.ts). */
const WHOLE = 199;

/** The text of the notification of an image. (domain/notifications/notify-on-events.ts) */
const IMAGE = '[image]';

/** The chat notifications of a room. */
interface Chat {
  /** The one that was shown first. */
  readonly first: NotificationRecord;
  /** The one with the highest n that is known. */
  newest?: NotificationRecord & { n: number };
  /** Up to which n they may be checked: checking one checks the older ones, too. */
  checkedUpTo: number;
}

/** All notifications of a member, by id. */
export interface Inbox {
  readonly member: number;
  readonly records: Map<number, NotificationRecord>;
  /** The same, as they were first shown. */
  readonly inOrder: NotificationRecord[];
  readonly ids: (number | undefined)[];
  /** Those of no chat that are not asked to be deleted, by id. */
  readonly kept: Map<number, NotificationRecord>;
  /** By url. */
  readonly chats: Map<string, Chat>;
  /**
   * Rooms, by url, of which a chat notification was asked to be deleted: older ones are then, too. When that was first asked for,
   * and when the last of those deleted was first shown.
   */
  readonly deletedRooms: Map<string, { askedAt: number; seenAt: number }>;
  /** From when on notifications that nobody had shown yet may have been deleted. */
  deletesUnseenFrom: number;
}

/** All notifications of a run. The first sighting of each is its record; rules compare the others to it. */
export class Notifications {
  readonly inboxes = new Map<number, Inbox>();
  readonly #messages: Messages;
  readonly #comments: Comments;

  constructor(messages: Messages, comments: Comments) {
    this.#messages = messages;
    this.#comments = comments;
  }

  of(member: number): Inbox {
    const inbox: Inbox = this.inboxes.get(member) ?? {
      member,
      records: new Map(),
      inOrder: [],
      ids: [],
      kept: new Map(),
      chats: new Map(),
      deletedRooms: new Map(),
      deletesUnseenFrom: Number.POSITIVE_INFINITY,
    };
    this.inboxes.set(member, inbox);
    return inbox;
  }

  /** What caused it, as far as its text shows; null: nothing that was asked for; undefined: it cannot be told. */
  causeOf({ type, content }: Pick<SeenNotification, 'type' | 'content'>): Cause | null | undefined {
    if (content.length >= WHOLE || (type === 'chat' && content === IMAGE)) return undefined;
    if (type === 'chat') {
      const message = this.#messages.byContent(content);
      if (!message) return null;
      return {
        kind: 'chat',
        message,
        recipient: otherOf(message.room, message.sender),
        askedAt: message.askedAt,
      };
    }
    if (type !== 'comment' && type !== 'recomment') return undefined;
    const comment = this.#comments.byContent(content);
    if (!comment) return null;
    return { kind: 'comment', comment, recipient: comment.recipient, askedAt: comment.askedAt };
  }

  see(member: number, seen: SeenNotification, t: number, n?: number): void {
    const inbox = this.of(member);
    let record = inbox.records.get(seen.id);
    if (!record) {
      const { id, type, content, url, name, at } = seen;
      record = {
        id,
        type,
        content,
        url,
        name,
        at,
        member,
        seenAt: t,
        cause: this.causeOf(seen) ?? undefined,
      };
      inbox.records.set(id, record);
      inbox.inOrder.push(record);
      if (type !== 'chat') inbox.kept.set(id, record);
      else if (!inbox.chats.has(url)) inbox.chats.set(url, { first: record, checkedUpTo: 0 });
    }
    if (n === undefined) return;
    record.n ??= n;
    inbox.ids[n] ??= seen.id;
    const chat = inbox.chats.get(record.url);
    if (chat && record.n > (chat.newest?.n ?? 0)) chat.newest = record as NotificationRecord & { n: number };
  }

  delivered(delivery: Delivery): void {
    if (delivery.event !== 'notification') return;
    const n = delivery.door === 'stream' && isNumber(delivery.n) ? delivery.n : undefined;
    this.see(delivery.member, delivery.notification, delivery.t, n);
  }

  asked(asked: Invoke): void {
    if (asked.f === 'check') this.#mayCheck(asked);
    else if (asked.f === 'delete') this.#mayDelete(asked);
  }

  #mayCheck({ member, notification, t }: Asked<'check'>): void {
    const inbox = this.of(member);
    const record = inbox.records.get(notification);
    if (!record) return;
    record.checkAskedAt ??= t;
    const chat = inbox.chats.get(record.url);
    if (chat) chat.checkedUpTo = Math.max(chat.checkedUpTo, record.n ?? Number.POSITIVE_INFINITY);
  }

  #mayDelete(asked: Asked<'delete'>): void {
    const inbox = this.of(asked.member);
    for (const id of asked.notifications) {
      const record = inbox.records.get(id);
      if (!record || record.type === 'chat')
        inbox.deletesUnseenFrom = Math.min(inbox.deletesUnseenFrom, asked.t);
      if (!record) continue;
      record.deletionAskedAt ??= asked.t;
      inbox.kept.delete(id);
      if (record.type !== 'chat') continue;
      const { url, seenAt } = record;
      const before = inbox.deletedRooms.get(url) ?? { askedAt: asked.t, seenAt };
      inbox.deletedRooms.set(url, { ...before, seenAt: Math.max(seenAt, before.seenAt) });
    }
  }

  /** A change of these was acknowledged. */
  answered(asked: Invoke, t: number): void {
    if (asked.f === 'check') {
      const record = this.of(asked.member).records.get(asked.notification);
      if (record) record.checkedAt ??= t;
    }
    if (asked.f !== 'delete') return;
    for (const id of asked.notifications) {
      const record = this.of(asked.member).records.get(id);
      if (record) record.deletedAt ??= t;
    }
  }
}

/** Whether this can be the number of a notification. */
export const isNumber = (n: number | null): n is number => Number.isSafeInteger(n) && (n ?? 0) > 0;

/** Whether it may have been deleted by then: by itself, or with a later one of its room. */
export function mayBeDeleted(
  inbox: Inbox,
  { deletionAskedAt = Number.POSITIVE_INFINITY, type, url }: NotificationRecord,
  t = Number.MAX_VALUE,
): boolean {
  const room = type === 'chat' ? inbox.deletedRooms.get(url) : undefined;
  return Math.min(deletionAskedAt, room?.askedAt ?? deletionAskedAt) <= t;
}

/** Whether the notification of a message may be deleted before anybody was shown it, with a later one of its room. */
export function mayBeDeletedUnseen(inbox: Inbox, { room, askedAt }: SentMessage): boolean {
  for (const [url, { seenAt }] of inbox.deletedRooms) {
    if (url.startsWith(`/chat/${room.no}?`) && askedAt < seenAt) return true;
  }
  return false;
}

/** Whether it may be checked: by itself, or with a later one of its room. */
export const mayBeChecked = (inbox: Inbox, { checkAskedAt, n, url }: NotificationRecord): boolean =>
  checkAskedAt !== undefined || (n ?? 0) < (inbox.chats.get(url)?.checkedUpTo ?? 0);

/** A notification as violations print it. */
export const describe = ({
  id,
  type,
  content,
  n,
}: NotificationRecord | (SeenNotification & { n?: number })) =>
  `${type} "${content.slice(0, 60)}" (id ${id}, n ${n ?? '?'})`;
