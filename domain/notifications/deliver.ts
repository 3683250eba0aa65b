import type { Live, NotificationView } from '../kernel/live.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { MemberDirectory } from '../members/index.js';
import { createCache } from '../platform/cache.js';
import type { Logger } from '../platform/logger.js';
import type { DeliveryBus } from './delivery-bus.js';
import type { NotificationRecord } from './notification.model.js';
import { presentNotification } from './notification.presenter.js';
import type { MissedNotification, SharedFields } from './poll-missed.js';

/** Most ids of delivered notifications remembered: more than come between two polls. */
const MAX_DELIVERED = 50_000;

interface DeliverDeps {
  bus: DeliveryBus;
  live: Live;
  directory: MemberDirectory;
  localTime: LocalDateTime;
  logger: Logger;
}

/** Delivers stored notifications to the member's streams and sockets, each once. */
export class NotificationDelivery {
  readonly #deps: DeliverDeps;
  /** How each notification was delivered here. A push that comes after the poll must not show it twice. */
  readonly #delivered = createCache<number, 'pushed' | 'polled'>(MAX_DELIVERED);

  constructor(deps: DeliverDeps) {
    this.#deps = deps;
  }

  /** Publishes new notifications to all processes; if names cannot be read, they are left to the poll. */
  async publish(records: NotificationRecord[]): Promise<void> {
    const { bus, live, localTime, logger } = this.#deps;
    try {
      const origins = await this.#originsOf(records);
      for (const record of records) {
        // The poll may have been faster here; other processes still need the push.
        if (!this.wasDelivered(record._id)) this.#delivered.set(record._id, 'pushed');
        const view = presentNotification(record, origins.get(record.originNo), localTime);
        bus.publish({ memberNo: record.memberNo, n: record.n, view });
        live.notification(record.memberNo, view);
      }
    } catch (error) {
      logger.warn({ err: error, notifications: records.length }, 'notifications are left to the poll');
    }
  }

  /** Delivers what the poll has found, within this process: every process has a poll. */
  async deliverMissed(missed: MissedNotification[]): Promise<void> {
    const origins = await this.#originsOf(missed.map(({ shared }) => shared));
    const views = new Map<SharedFields, NotificationView>();
    const viewOf = (shared: SharedFields): NotificationView => {
      const view =
        views.get(shared) ??
        presentNotification({ _id: 0, ...shared }, origins.get(shared.originNo), this.#deps.localTime);
      views.set(shared, view);
      return view;
    };
    for (const { _id, memberNo, n, shared } of missed) {
      if (this.wasDelivered(_id)) continue;
      this.#delivered.set(_id, 'polled');
      try {
        const view = { ...viewOf(shared), id: _id };
        this.#deps.bus.publishHere({ memberNo, n, view });
        this.#deps.live.notificationHere(memberNo, view);
      } catch (error) {
        this.#deps.logger.error({ err: error, notification: _id }, 'a notification cannot be presented');
      }
    }
  }

  wasDelivered(id: number): boolean {
    return this.#delivered.has(id);
  }

  /** A push to this process's sockets has arrived. @returns false if the poll has delivered it already */
  acceptPush(id: number): boolean {
    if (this.#delivered.get(id) === 'polled') return false;
    this.#delivered.set(id, 'pushed');
    return true;
  }

  #originsOf(records: Pick<NotificationRecord, 'originNo'>[]) {
    return this.#deps.directory.lookUp(records.map(({ originNo }) => originNo).filter((no) => no > 0));
  }
}
