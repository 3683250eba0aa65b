import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { Live, NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import { createCache } from '../platform/cache.js';
import type { Logger } from '../platform/logger.js';
import { metrics } from '../platform/metrics.js';
import { checkNotification, deleteNotifications } from './change-notifications.js';
import { createDeliveryBus } from './create-delivery-bus.js';
import type { Delivery, DeliveryBus, Subscription } from './delivery-bus.js';
import { listNotifications } from './list-notifications.js';
import type { NotificationRecord } from './notification.model.js';
import { presentNotification } from './notification.presenter.js';
import { createNotifier, type NewNotification } from './notifier.js';
import { notifyOnEvents } from './notify-on-events.js';
import { createMissedPoll, type MissedNotification, type SharedPart } from './poll-missed.js';
import { replayAfter, resumeAfter } from './replay.js';

export { createDeliveryBus } from './create-delivery-bus.js';
export type { Delivery, Subscription } from './delivery-bus.js';
export { checkNotifications } from './verify-notifications.js';

/** Members' notifications and what their event streams carry. (contract, section 6) */
export interface Notifications {
  list(actor: Actor): Promise<NotificationView[]>;
  check(actor: Actor, notificationId: number): Promise<void>;
  remove(actor: Actor, ids: number[]): Promise<void>;
  /** Writes one. @returns false when its cause has notified the member before */
  notify(notice: NewNotification): Promise<boolean>;
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
  wakeUps?: DeliveryBus;
}

/** Most numbers of delivered notifications remembered: those of the five seconds between two looks of the tail. */
const MAX_DELIVERED = 50_000;

export function createNotifications(deps: NotificationDeps): Notifications {
  const { clock, events, directory, localTime, live, logger, wakeUps = createDeliveryBus() } = deps;
  /**
   * Numbers of what this process has delivered since the tail's last look, and more, so that the tail
   * leaves them alone; and whether the tail has found them: a push that comes late must not show those
   * twice.
   */
  const delivered = createCache<number, 'pushed' | 'tailed'>(MAX_DELIVERED);

  /** New ones, to wherever their members are listening. */
  async function deliver(records: NotificationRecord[]): Promise<void> {
    try {
      const origins = await lookUpOrigins(records);
      for (const record of records) {
        // The tail may have been faster here; other processes need the push all the same.
        if (!delivered.has(record._id)) delivered.set(record._id, 'pushed');
        const view = presentNotification(record, origins.get(record.originNo), localTime);
        wakeUps.publish({ memberNo: record.memberNo, n: record.n, view });
        live.notification(record.memberNo, view);
      }
    } catch (error) {
      // They are stored: the tail delivers them when the database answers again.
      logger.warn(
        { err: error, notifications: records.length },
        'notifications are left to the tail to deliver',
      );
    }
  }

  const notifier = createNotifier(clock, async (records) => {
    for (const { type } of records) metrics.notificationsStored.inc({ type });
    await deliver(records);
  });

  /** One whose push has not come by: to who listens in this process, as every process has its own tail. */
  function deliverHere(
    { _id, memberNo, n, shared }: MissedNotification,
    viewOf: (shared: SharedPart) => NotificationView,
  ) {
    if (delivered.has(_id)) return;
    delivered.set(_id, 'tailed');
    try {
      const view = { ...viewOf(shared), id: _id };
      wakeUps.publishHere({ memberNo, n, view });
      live.notificationHere(memberNo, view);
    } catch (error) {
      logger.error({ err: error, notification: _id }, 'a notification cannot be shown');
    }
  }

  async function deliverFound(found: MissedNotification[]): Promise<void> {
    const origins = await lookUpOrigins(found.map(({ shared }) => shared));
    const views = new Map<SharedPart, NotificationView>();
    const viewOf = (shared: SharedPart): NotificationView => {
      const view =
        views.get(shared) ??
        presentNotification({ _id: 0, ...shared }, origins.get(shared.originNo), localTime);
      views.set(shared, view);
      return view;
    };
    for (const one of found) deliverHere(one, viewOf);
  }

  function lookUpOrigins(from: Pick<NotificationRecord, 'originNo'>[]) {
    return directory.lookUp(from.map(({ originNo }) => originNo).filter((no) => no > 0));
  }

  const tail = createMissedPoll((id) => delivered.has(id), deliverFound, logger);
  notifyOnEvents(events, notifier);

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
    startTail: () => tail.start(),
    async close() {
      await tail.stop();
      await notifier.idle();
      wakeUps.close();
    },
  };
}
