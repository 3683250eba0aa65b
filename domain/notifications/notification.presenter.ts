import type { Actor } from '../kernel/actor.js';
import type { NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { NotificationRecord } from './notification.model.js';

/** Origin of a notification that comes from no member. */
const SERVICE_NAME = 'admin';

/**
 * With a leading slash: a relative path would resolve against the page that shows it. Older records and
 * announcements may lack the slash.
 */
function pathOf(url: string): string {
  return url.startsWith('/') ? url : `/${url}`;
}

/** The documented record, for the list, the stream and the socket event. */
export function presentNotification(
  record: Omit<NotificationRecord, 'memberNo' | 'n' | 'cause' | 'chatNo'>,
  origin: Actor | undefined,
  localTime: LocalDateTime,
): NotificationView {
  return {
    id: record._id,
    type: record.type,
    content: record.content,
    url: pathOf(record.url),
    publishedAt: localTime.numbers(record.publishedAt.getTime()),
    name: record.originNo === 0 ? SERVICE_NAME : (origin?.nickname ?? ''),
    checked: record.checked,
    del: record.deleted,
  };
}
