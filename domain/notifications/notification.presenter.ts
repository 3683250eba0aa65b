import type { NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import type { NotificationRecord } from './notification.model.js';

/** Origin of a notification that comes from no member. */
const SERVICE_NAME = 'admin';

/**
 * With a leading slash: a relative path would resolve against the page that shows it. A release before schema
 * version 1, which may still run, stores some without it (platform/mongo/migrations.ts).
 */
function pathOf(url: string): string {
  return url.startsWith('/') ? url : `/${url}`;
}

/** What presenting notifications depends on. */
export interface PresenterDeps {
  directory: MemberDirectory;
  localTime: LocalDateTime;
}

/**
 * @param records all that are to be presented: the names of the members they come from are read together
 * @returns a function that makes the documented record, for the list, the stream and the socket event
 */
export async function createPresenter(
  { directory, localTime }: PresenterDeps,
  records: Pick<NotificationRecord, 'originNo'>[],
) {
  const origins = await directory.lookUp(records.map(({ originNo }) => originNo).filter((no) => no > 0));
  return (record: Omit<NotificationRecord, 'memberNo' | 'n' | 'cause' | 'chatNo'>): NotificationView => ({
    id: record._id,
    type: record.type,
    content: record.content,
    url: pathOf(record.url),
    publishedAt: localTime.numbers(record.publishedAt.getTime()),
    name: record.originNo === 0 ? SERVICE_NAME : (origins.get(record.originNo)?.nickname ?? ''),
    checked: record.checked,
    del: record.deleted,
  });
}
