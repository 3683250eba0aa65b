import type { Live, NotificationView } from '../kernel/live.js';
import { memberRoom } from '../kernel/socket-rooms.js';
import type { Logger } from '../platform/observe/logger.js';
import { lostPushes } from '../platform/observe/lost-pushes.js';
import { metrics } from '../platform/observe/metrics.js';
import type { DeliveryBus } from './delivery-bus.js';
import { NotedIds } from './noted-ids.js';
import type { MissedNotification, NotificationRecord, SharedFields } from './notification.model.js';
import { createPresenter, type PresenterDeps } from './notification.presenter.js';

/**
 * Most ids of delivered notifications remembered: all that a process may be told again, also of an announcement. It reads that
 * when it polls, and once more when the process on duty names it.
 */
const MAX_DELIVERED = 8_192 * 512;

/** Most notifications in a report; the process on duty takes those beyond it for unpublished. */
const MAX_REPORTED = 50_000;

/** Time, ms, for which a member must have been connected for a missing push to be a lost one: clocks of processes differ. */
const CONNECTED_MS = 5_000;

interface DeliverDeps extends PresenterDeps {
  bus: DeliveryBus;
  live: Live;
  logger: Logger;
  /** Whether the other processes are told what this one publishes (`takePublished`). */
  isReported: boolean;
}

/** Published by this process. The push comes back to its own sockets, too, and then it is SHOWN. */
const PUBLISHED = 1;

/** Given to this process's sockets by a push, or to its sockets and streams by the poll. */
const SHOWN = 2;

/**
 * Given to this process's streams by a delivery of another process. It comes on another channel than the push to sockets, and
 * one can be lost without the other: sockets may still need the poll.
 */
const STREAMED = 4;

/** What the views of an announcement have in common: all but the id. */
interface SharedView {
  fields: Omit<NotificationView, 'id'>;
  /** As JSON, without the opening brace. */
  json: string;
}

function sharedView({ id: _, ...fields }: NotificationView): SharedView {
  return { fields, json: JSON.stringify(fields).slice(1) };
}

/**
 * Delivers stored notifications to the member's streams and sockets, each once. Streams know by a delivery's `n` whether they
 * had it; for sockets, this process has to know.
 */
export class Deliverer {
  readonly #deps: DeliverDeps;
  /** How each notification was delivered here: PUBLISHED, SHOWN, STREAMED. */
  readonly #noted = new NotedIds(MAX_DELIVERED);
  /** What this process has published since its last report: numbers and members. */
  #published: [id: number, memberNo: number][] = [];

  constructor(deps: DeliverDeps) {
    this.#deps = deps;
  }

  /** Publishes new notifications to all processes; if names cannot be read, they are left to the poll. */
  async publish(records: NotificationRecord[]): Promise<void> {
    const { bus, live, logger } = this.#deps;
    try {
      const present = await createPresenter(this.#deps, records);
      for (const record of records) {
        // The poll may have been faster here, and has marked it SHOWN; other processes still need the push.
        this.#noted.add(record._id, PUBLISHED);
        const view = present(record);
        const { memberNo, n, publishedAt } = record;
        bus.publish({ memberNo, n, publishedAt: publishedAt.getTime(), view });
        live.notification(memberNo, view);
        if (this.#deps.isReported && this.#published.length < MAX_REPORTED)
          this.#published.push([record._id, memberNo]);
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
    const known = new Map<SharedFields, SharedView>();
    const viewOf = (shared: SharedFields): SharedView => {
      const view = known.get(shared) ?? sharedView(present({ _id: 0, ...shared }));
      known.set(shared, view);
      return view;
    };
    let polled = 0;
    for (const { _id, memberNo, n, shared } of missed) {
      if (this.wasDelivered(_id)) continue;
      this.#noted.add(_id, SHOWN);
      // Deleted before it was delivered: nobody is to be shown it.
      if (shared.deleted) continue;
      try {
        const { fields, json } = viewOf(shared);
        const view = { id: _id, ...fields };
        const publishedAt = shared.publishedAt.getTime();
        const isNewToStreams = this.#deps.bus.publishHere({ memberNo, n, publishedAt, view });
        const isNewToSockets = this.#deps.live.notificationHere(memberNo, view, `{"id":${_id},${json}`);
        // Members without a connection to this process are polled for, too, and nothing is pushed for them.
        if (isNewToStreams || isNewToSockets) polled += 1;
        const wasPushed = shared.type !== 'announcement' && this.#wasConnected(memberNo, publishedAt);
        if (isNewToSockets && wasPushed) lostPushes.mended('notification', memberRoom(memberNo), _id);
      } catch (error) {
        this.#deps.logger.error({ err: error, notification: _id }, 'a notification cannot be presented');
      }
    }
    metrics.notificationsPolled.inc(polled);
  }

  /** Whether a push at that time (epoch ms, by another process's clock) had a socket here to come to. */
  #wasConnected(memberNo: number, at: number): boolean {
    return this.#deps.live.connectedSince(memberNo) < at - CONNECTED_MS;
  }

  /** Whether the poll can leave it out. */
  wasDelivered(id: number): boolean {
    return this.#noted.has(id, PUBLISHED | SHOWN);
  }

  /** A delivery to this process's streams has arrived. */
  noteStreamed(id: number): void {
    this.#noted.add(id, STREAMED);
  }

  /**
   * Whether the member has a socket here that was not sent a notification of another process, or a stream. (Of a process that
   * serves both, a stream whose delivery alone was lost notices it by the next `n`.)
   */
  lacks(id: number, memberNo: number): boolean {
    const { bus, live } = this.#deps;
    if (this.#noted.has(id, SHOWN)) return false;
    return live.isConnected(memberNo) || (bus.hasListener(memberNo) && !this.#noted.has(id, STREAMED));
  }

  /** What this process has published since the last call. */
  takePublished(): [id: number, memberNo: number][] {
    return this.#published.splice(0);
  }

  /** A push to this process's sockets has arrived. @returns false if it was delivered already */
  acceptPush(id: number): boolean {
    if (this.#noted.has(id, SHOWN)) return false;
    this.#noted.add(id, SHOWN);
    return true;
  }
}
