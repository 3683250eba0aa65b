import { randomUUID } from 'node:crypto';
import { Notification } from '../../domain/notifications/notification.model.js';
import { nextNumbers } from '../../domain/platform/sequence.model.js';
import type { Member } from './api.js';
import { service } from './service.js';

/** The documented record. */
export interface NotificationRecord {
  id: number;
  type: string;
  content: string;
  url: string;
  publishedAt: number[];
  name: string;
  checked: boolean;
  del: boolean;
}

/** Notifies a member; every call is a notification of its own. */
export async function notifyOf({ no }: Pick<Member, 'no'>, content: string, url = 'note/1'): Promise<void> {
  const { domain } = await service();
  const cause = `test:${randomUUID()}`;
  await domain.notifications.notify({ memberNo: no, type: 'note', content, url, originNo: 0, cause });
}

/** Notifies a member, and returns the record as listed. */
export async function notify(who: Member, content: string): Promise<NotificationRecord> {
  await notifyOf(who, content);
  const { body } = await who.get<NotificationRecord[]>('/notification/all');
  return body.find((record) => record.content === content) as NotificationRecord;
}

/** Stores notifications as another process does. @returns the number of the first */
export async function writeElsewhere(
  notices: {
    memberNo: number;
    n: number;
    content: string;
    chatNo?: number;
    deleted?: boolean;
    publishedAt?: Date;
  }[],
): Promise<number> {
  const firstId = await nextNumbers('notification', notices.length);
  await Notification.collection.insertMany(
    notices.map((notice, i) => ({
      _id: (firstId + i) as never,
      type: 'announcement',
      url: 'board/1',
      originNo: 0,
      publishedAt: new Date(),
      checked: false,
      deleted: false,
      cause: `elsewhere:${firstId + i}`,
      ...notice,
    })),
  );
  return firstId;
}
