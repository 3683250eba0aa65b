import type { Live, NotificationView } from '../kernel/live.js';
import { createCache } from '../platform/cache.js';
import type { Logger } from '../platform/logger.js';
import { metrics } from '../platform/metrics.js';
import type { DeliveryBus } from './delivery-bus.js';
import type { MissedNotification, NotificationRecord, SharedFields } from './notification.model.js';
import { createPresenter, type PresenterDeps } from './notification.presenter.js';

/** Most ids of delivered notifications remembered: more than come between two polls. */
const MAX_DELIVERED = 50_000;

interface DeliverDeps extends PresenterDeps {
  bus: DeliveryBus;
  live: Live;
  logger: Logger;
}

/** Delivers stored notifications to the member's streams and sockets, each once. */
export class Deliverer {
  readonly #deps: DeliverDeps;
  /** Whether each notification was shown here or is about to be: a push after the poll, or again, is dropped. */
  readonly #delivered = createCache<number, 'published' | 'shown'>(MAX_DELIVERED);

  constructor(deps: DeliverDeps) {
    this.#deps = deps;
  }

  /** Publishes new notifications to all processes; if names cannot be read, they are left to the poll. */
  async publish(records: NotificationRecord[]): Promise<void> {
    const { bus, live, logger } = this.#deps;
    try {
      const present = await createPresenter(this.#deps, records);
      for (const record of records) {
        // The poll may have been faster here; other processes still need the push.
        if (!this.wasDelivered(record._id)) this.#delivered.set(record._id, 'published');
        const view = present(record);
        const { memberNo, n, publishedAt } = record;
        bus.publish({ memberNo, n, publishedAt: publishedAt.getTime(), view });
        live.notification(memberNo, view);
      }
    } catch (error) {
      logger.warn({ err: error, notifications: records.length }, 'notifications are left to the poll');
    }
  }

  /** Delivers what the poll has found, within this process: every process has a poll. */
  async deliverMissed(missed: MissedNotification[]): Promise<void> {
    const present = await createPresenter(
      this.#deps,
      missed.map(({ shared }) => shared),
    );
    const views = new Map<SharedFields, NotificationView>();
    const viewOf = (shared: SharedFields): NotificationView => {
      const view = views.get(shared) ?? present({ _id: 0, ...shared });
      views.set(shared, view);
      return view;
    };
    for (const { _id, memberNo, n, shared } of missed) {
      if (this.wasDelivered(_id)) continue;
      this.#delivered.set(_id, 'shown');
      try {
        const view = { ...viewOf(shared), id: _id };
        const publishedAt = shared.publishedAt.getTime();
        const isNewToStreams = this.#deps.bus.publishHere({ memberNo, n, publishedAt, view });
        const isNewToSockets = this.#deps.live.notificationHere(memberNo, view);
        // Members without a connection to this process are polled for, too, and nothing is pushed for them.
        if (isNewToStreams || isNewToSockets) metrics.notificationsPolled.inc();
      } catch (error) {
        this.#deps.logger.error({ err: error, notification: _id }, 'a notification cannot be presented');
      }
    }
  }

  wasDelivered(id: number): boolean {
    return this.#delivered.has(id);
  }

  /** A push to this process's sockets has arrived. @returns false if it was delivered already */
  acceptPush(id: number): boolean {
    if (this.#delivered.get(id) === 'shown') return false;
    this.#delivered.set(id, 'shown');
    return true;
  }
}
