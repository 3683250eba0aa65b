import { randomUUID } from 'node:crypto';
import type { NotificationView } from '../../domain/kernel/live.js';
import {
  Notification,
  type NotificationRecord as Stored,
} from '../../domain/notifications/notification.model.js';
import { nextNumbers } from '../../domain/platform/mongo/sequence.model.js';
import type { Member } from './api.js';
import { service } from './service.js';

/** Notifies a member; every call is a notification of its own. */
export async function notifyOf({ no }: Pick<Member, 'no'>, content: string, url = 'note/1'): Promise<void> {
  const { domain } = await service();
  const cause = `test:${randomUUID()}`;
  await domain.notifications.notify({ memberNo: no, type: 'note', content, url, originNo: 0, cause });
}

/** Notifies a member, and returns the record as listed. */
export async function notify(who: Member, content: string): Promise<NotificationView> {
  await notifyOf(who, content);
  const { body } = await who.get<NotificationView[]>('/notification/all');
  return body.find((record) => record.content === content) as NotificationView;
}

/** A stored notification, with a cause of its own. */
export const storedNotification = (
  fields: Partial<Stored> & Pick<Stored, '_id' | 'memberNo' | 'n'>,
): Stored => ({
  type: 'announcement',
  content: 'hello',
  url: 'board/1',
  originNo: 0,
  publishedAt: new Date(),
  checked: false,
  deleted: false,
  cause: `elsewhere:${fields._id}`,
  ...fields,
});

/** Stores notifications as another process does. @returns the number of the first */
export async function writeElsewhere(
  notices: (Partial<Stored> & Pick<Stored, 'memberNo' | 'n'>)[],
): Promise<number> {
  const firstId = await nextNumbers('notification', notices.length);
  const records = notices.map((notice, i) => storedNotification({ _id: firstId + i, ...notice }));
  await Notification.collection.insertMany(records as never[]);
  return firstId;
}
