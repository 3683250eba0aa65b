import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Notification } from './notification.model.js';

/**
 * Applies a change also to older notifications of the same room: the list shows only the latest one of a
 * chat, and deleting it would bring up the previous one.
 */
async function changeWithOlder(
  memberNo: number,
  records: { _id: number; n: number; chatNo?: number }[],
  change: { checked: true } | { deleted: true },
): Promise<void> {
  const ofRooms = records.filter(({ chatNo }) => chatNo !== undefined);
  await Notification.updateMany({ _id: { $in: records.map(({ _id }) => _id) } }, { $set: change });
  await Promise.all(
    ofRooms.map(({ chatNo, n }) =>
      Notification.updateMany({ memberNo, chatNo, n: { $lt: n } }, { $set: change }),
    ),
  );
}

/** @throws AppError NOTIFICATION_NOT_FOUND, for another member's notification, too */
export async function checkNotification(actor: Actor, notificationId: number): Promise<void> {
  const record = await Notification.findOne(
    { _id: notificationId, memberNo: actor.no, deleted: false },
    { n: 1, chatNo: 1 },
  ).lean();
  if (!record) throw new AppError('NOTIFICATION_NOT_FOUND', `notification ${notificationId} does not exist`);
  await changeWithOlder(actor.no, [record], { checked: true });
}

/**
 * Deletes all of these, or none if one is not the caller's. Repeated and deleted ones are accepted.
 * @throws AppError NOTIFICATION_NOT_FOUND naming those that are not the caller's
 */
export async function deleteNotifications(actor: Actor, ids: number[]): Promise<void> {
  const wanted = [...new Set(ids)];
  const records = await Notification.find(
    { _id: { $in: wanted }, memberNo: actor.no },
    { n: 1, chatNo: 1 },
  ).lean();
  const found = new Set(records.map(({ _id }) => _id));
  const missing = wanted.filter((id) => !found.has(id));
  if (missing.length > 0) {
    throw new AppError(
      'NOTIFICATION_NOT_FOUND',
      missing.slice(0, 10).map((id) => `idList: notification ${id} does not exist`),
    );
  }
  await changeWithOlder(actor.no, records, { deleted: true });
}
