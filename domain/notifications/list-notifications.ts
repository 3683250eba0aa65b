import type { Actor } from '../kernel/actor.js';
import type { NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import { readRecords } from '../platform/mongo/records.js';
import { Notification, type NotificationRecord } from './notification.model.js';
import { presentNotification } from './notification.presenter.js';

/** Most notifications in one list. */
const MAX_LISTED = 1_000;

/** Most records read for a list, which shows only the latest one of each chat. */
const MAX_READ = 10_000;

/** Drops all but the newest chat notification of each room. (legacy) @param newestFirst in order of n */
function latestPerRoom(newestFirst: NotificationRecord[]): NotificationRecord[] {
  const rooms = new Set<number>();
  return newestFirst.filter(({ chatNo }) => {
    if (chatNo === undefined) return true;
    if (rooms.has(chatNo)) return false;
    rooms.add(chatNo);
    return true;
  });
}

/** All notifications of a member, newest first, without the deleted ones. */
export async function listNotifications(
  directory: MemberDirectory,
  localTime: LocalDateTime,
  actor: Actor,
): Promise<NotificationView[]> {
  const records = await readRecords<NotificationRecord>(
    Notification,
    { memberNo: actor.no, deleted: false },
    { sort: { n: -1 }, limit: MAX_READ },
  );
  const shown = latestPerRoom(records).slice(0, MAX_LISTED);
  const origins = await directory.lookUp(shown.map(({ originNo }) => originNo).filter((no) => no > 0));
  return shown.map((record) => presentNotification(record, origins.get(record.originNo), localTime));
}
