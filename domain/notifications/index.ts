import { LRUCache } from 'lru-cache';
import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { Live, NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import type { Logger } from '../platform/logger.js';
import { metrics } from '../platform/metrics.js';
import { listenToCauses } from './causes.js';
import { checkNotification, deleteNotifications } from './change-notifications.js';
import { createWakeUps } from './create-wake-ups.js';
import { listNotifications } from './list-notifications.js';
import type { NotificationRecord } from './notification.model.js';
import { presentNotification } from './notification.presenter.js';
import { createNotifier, type Notice } from './notifier.js';
import { replayAfter, resumeAfter } from './replay.js';
import { createTail, type Found, type SharedPart } from './tail.js';
import type { Delivery, Subscription, WakeUps } from './wake-ups.js';

export { createWakeUps } from './create-wake-ups.js';
export { checkNotifications } from './verify-notifications.js';
export type { Delivery, Subscription } from './wake-ups.js';

/** Members' notifications and what their event streams carry. (contract, section 6) */
export interface Notifications {
  list(actor: Actor): Promise<NotificationView[]>;
  check(actor: Actor, notificationId: number): Promise<void>;
  remove(actor: Actor, ids: number[]): Promise<void>;
  /** Writes one. @returns false when its cause has notified the member before */
  notify(notice: Notice): Promise<boolean>;
  /** Where a stream goes on whose client sends these as its last event ids. */
  resumeAfter(memberNo: number, lastEventIds: readonly string[]): Promise<number>;
  /** Everything after a number, in order, in pages. */
  replayAfter(memberNo: number, after: number): AsyncGenerator<Delivery[]>;
  /**
   * Live deliveries of one member. What was written before is read once the subscription is `ready`;
   * from then on a jump in `n` tells of what was lost on the way.
   */
  subscribe(memberNo: number, listener: (delivery: Delivery) => void): Subscription;
  /**
   * Takes in that a notification is about to reach this process's sockets.
   * @returns false when it has reached them before
   */
  heard(notificationId: number): boolean;
  /** Starts looking for what other processes write. */
  startTail(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationDeps {
  clock: Clock;
  events: EventBus;
  directory: MemberDirectory;
  localTime: LocalDateTime;
  live: Live;
  logger: Logger;
  /** Without them, streams of this process alone are woken. */
  wakeUps?: WakeUps;
}

export function createNotifications(deps: NotificationDeps): Notifications {
  const { clock, events, directory, localTime, live, logger, wakeUps = createWakeUps() } = deps;
  /**
   * Numbers of what this process has delivered lately, so that the tail leaves them alone; and whether the
   * tail has found them: a push that comes late must not show those twice.
   */
  const delivered = new LRUCache<number, 'pushed' | 'tailed'>({ max: 20_000 });

  async function viewOf(record: NotificationRecord): Promise<NotificationView> {
    const origins = await directory.lookUp(record.originNo > 0 ? [record.originNo] : []);
    return presentNotification(record, origins.get(record.originNo), localTime);
  }

  /** A new one, to wherever its member is listening. */
  async function deliver(record: NotificationRecord): Promise<void> {
    delivered.set(record._id, 'pushed');
    try {
      const view = await viewOf(record);
      wakeUps.publish({ memberNo: record.memberNo, n: record.n, view });
      live.notification(record.memberNo, view);
    } catch (error) {
      // It is stored: the tail delivers it when the database answers again.
      delivered.delete(record._id);
      logger.warn({ err: error, notification: record._id }, 'a notification is left to the tail to deliver');
    }
  }

  const notifier = createNotifier(clock, async (record) => {
    metrics.notificationsStored.inc({ type: record.type });
    await deliver(record);
  });
  /** Those whose push has not come by: to who listens in this process, as every process has its own tail. */
  async function deliverHere(found: Found[]): Promise<void> {
    const origins = await directory.lookUp(found.map(({ shared }) => shared.originNo).filter((no) => no > 0));
    const views = new Map<SharedPart, NotificationView>();
    for (const { _id, memberNo, n, shared } of found) {
      if (delivered.has(_id)) continue;
      delivered.set(_id, 'tailed');
      const known = views.get(shared);
      const view = known
        ? { ...known, id: _id }
        : presentNotification({ _id, ...shared }, origins.get(shared.originNo), localTime);
      if (!known) views.set(shared, view);
      wakeUps.publishHere({ memberNo, n, view });
      live.notificationHere(memberNo, view);
    }
  }
  const tail = createTail((id) => delivered.has(id), deliverHere, logger);
  listenToCauses(events, notifier);

  return {
    list: (actor) => listNotifications(directory, localTime, actor),
    check: checkNotification,
    remove: deleteNotifications,
    notify: async (notice) => (await notifier.notify(notice)) !== undefined,
    resumeAfter,
    replayAfter: (memberNo, after) => replayAfter(directory, localTime, memberNo, after),
    subscribe: (memberNo, listener) => wakeUps.subscribe(memberNo, listener),
    heard(notificationId) {
      if (delivered.get(notificationId) === 'tailed') return false;
      delivered.set(notificationId, 'pushed');
      return true;
    },
    async startTail() {
      for (const id of await tail.start()) delivered.set(id, 'pushed');
    },
    async close() {
      await tail.stop();
      await notifier.idle();
      wakeUps.close();
    },
  };
}
