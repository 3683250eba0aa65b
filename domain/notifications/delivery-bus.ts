import type { NotificationView } from '../kernel/live.js';

/** A stored notification on its way to whoever is listening for its member. */
export interface Delivery {
  memberNo: number;
  /** Its number among the member's notifications. */
  n: number;
  view: NotificationView;
}

export interface Subscription {
  /**
   * Resolves, soon and always, when deliveries of other processes arrive as well, or cannot arrive now.
   * Who reads the database after that and then goes by the deliveries misses nothing but what is lost on
   * the way; who reads it before may miss one that is written in between.
   */
  readonly ready: Promise<void>;
  end(): void;
}

/**
 * Wakes the open event streams of a member.
 *
 * What an implementer owes: within one process deliveries of a member arrive in the order of
 * publishing, at once, each one once. Across processes one may be lost or late: a listener that sees a
 * jump in `n` reads what is missing from the database.
 */
export interface DeliveryBus {
  /** To listeners on every process. */
  publish(delivery: Delivery): void;
  /** To listeners on this process alone. */
  publishHere(delivery: Delivery): void;
  subscribe(memberNo: number, listener: (delivery: Delivery) => void): Subscription;
  /** Ends all subscriptions. */
  close(): void;
}
