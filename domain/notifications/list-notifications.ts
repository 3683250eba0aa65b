import type { Actor } from '../kernel/actor.js';
import type { NotificationView } from '../kernel/live.js';
import { type NotificationRecord, readNewest } from './notification.model.js';
import { createPresenter, type PresenterDeps } from './notification.presenter.js';

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
export async function listNotifications(deps: PresenterDeps, actor: Actor): Promise<NotificationView[]> {
  const shown = latestPerRoom(await readNewest(actor.no, MAX_READ)).slice(0, MAX_LISTED);
  return shown.map(await createPresenter(deps, shown));
}
