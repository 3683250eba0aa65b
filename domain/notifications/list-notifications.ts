import type { Actor } from '../kernel/actor.js';
import type { NotificationView } from '../kernel/live.js';
import { lastNumberOf, type NotificationRecord, readNewest } from './notification.model.js';
import { createPresenter, type PresenterDeps } from './notification.presenter.js';

/** Most notifications in one list, and most read at a time. */
export const MAX_LISTED = 1_000;

/** How far back a list looks, in numbers: those of deleted notifications, and of all but the latest of a chat, count, too. */
const MAX_BACK = 10_000;

/** The notifications of a list: of each room only the newest. (legacy) */
async function readListed(memberNo: number): Promise<NotificationRecord[]> {
  const after = (await lastNumberOf(memberNo)) - MAX_BACK;
  const rooms = new Set<number>();
  const listed: NotificationRecord[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const page = await readNewest(memberNo, { after, before }, [...rooms], MAX_LISTED);
    for (const record of page) {
      const { chatNo } = record;
      if (chatNo !== undefined && rooms.has(chatNo)) continue;
      if (chatNo !== undefined) rooms.add(chatNo);
      listed.push(record);
    }
    const oldest = page.at(-1);
    if (!oldest || page.length < MAX_LISTED || listed.length >= MAX_LISTED)
      return listed.slice(0, MAX_LISTED);
    before = oldest.n;
  }
}

/** All notifications of a member, newest first, without the deleted ones. */
export async function listNotifications(deps: PresenterDeps, actor: Actor): Promise<NotificationView[]> {
  const listed = await readListed(actor.no);
  return listed.map(await createPresenter(deps, listed));
}
