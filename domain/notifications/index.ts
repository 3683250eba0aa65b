import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import type { Live } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import type { Logger } from '../platform/observe/logger.js';
import { metrics } from '../platform/observe/metrics.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { checkNotification, deleteNotifications } from './change-notifications.js';
import { Deliverer } from './deliver.js';
import type { DeliveryListener } from './delivery-bus.js';
import { MemoryDeliveryBus } from './delivery-bus.memory.js';
import { RedisDeliveryBus } from './delivery-bus.redis.js';
import { listNotifications } from './list-notifications.js';
import { type NewNotification, Notifier } from './notifier.js';
import { notifyOnEvents } from './notify-on-events.js';
import { MissedPoll, type PollReports } from './poll-missed.js';
import { replayAfter, resumeAfter } from './replay.js';

export type { Delivery, Subscription } from './delivery-bus.js';
export { checkNotifications } from './verify-notifications.js';

export interface NotificationDeps {
  clock: Clock;
  events: EventBus;
  directory: MemberDirectory;
  localTime: LocalDateTime;
  live: Live;
  logger: Logger;
  /** Without it, deliveries stay in this process. */
  redis?: RedisConnection | undefined;
  /** What other processes publish; without them, this one polls for all of it. */
  reports?: PollReports | undefined;
}

/** Members' notifications and what their event streams carry. (contract, section 6) */
export type Notifications = ReturnType<typeof createNotifications>;

export function createNotifications(deps: NotificationDeps) {
  const { clock, events, logger, redis, reports } = deps;
  const bus = redis
    ? new RedisDeliveryBus(redis, {
        delivered: (id) => deliverer.noteStreamed(id),
        unsigned: () => poll.pollSoon(),
      })
    : new MemoryDeliveryBus();
  const deliverer = new Deliverer({ ...deps, bus, isReported: reports !== undefined });
  const poll = new MissedPoll({
    ...{ logger, reports },
    wasDelivered: (id) => deliverer.wasDelivered(id),
    lacks: (id, memberNo) => deliverer.lacks(id, memberNo),
    deliver: (missed) => deliverer.deliverMissed(missed),
  });
  const notifier = new Notifier(clock, async (records) => {
    for (const { type } of records) metrics.notificationsStored.inc({ type });
    await deliverer.publish(records);
  });
  const stopWatching = metrics.queueLength.watch(() => notifier.waiting, { queue: 'notifications' });
  notifyOnEvents(events, (notification) => notifier.notify(notification));

  return {
    list: (actor: Actor) => listNotifications(deps, actor),
    check: checkNotification,
    remove: deleteNotifications,
    /** Stores a notification. @returns false if its cause has notified the member before */
    notify: async (notification: NewNotification) => (await notifier.notify(notification)) !== undefined,
    /** The number after which a stream resumes whose client sends these as its last event ids. */
    resumeAfter,
    /** Everything after a number, in order, page by page. */
    replayAfter: (memberNo: number, after: number) => replayAfter(deps, memberNo, after),
    /**
     * Live deliveries of one member. Read what was written before once the subscription is `ready`; from then
     * on a gap in `n` means that a delivery was lost.
     */
    subscribe: (memberNo: number, listener: DeliveryListener) => bus.subscribe(memberNo, listener),
    /** A push to this process's sockets has arrived. @returns false if it has been delivered already */
    acceptPush: (notificationId: number) => deliverer.acceptPush(notificationId),
    /** Another process may have stored a notification. */
    pollSoon: () => poll.pollSoon(),
    /** Starts looking for notifications that were not pushed to this process. */
    startPoll: () => poll.start(),
    /** What this process has published since the last call: number and member of each. */
    takePublished: () => deliverer.takePublished(),
    /** What this process tells the others while it is on duty. */
    takeNews: () => poll.takeNews(),
    async close() {
      await poll.stop();
      await notifier.idle();
      bus.close();
      stopWatching();
    },
  };
}
