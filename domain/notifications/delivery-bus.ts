import type { NotificationView } from '../kernel/live.js';

/** A stored notification on its way to the member's open event streams. */
export interface Delivery {
  memberNo: number;
  /** Its number among the member's notifications. */
  n: number;
  /** When it was stored, epoch ms. */
  publishedAt: number;
  view: NotificationView;
}

/** Returns true if it had not received the delivery. */
export type DeliveryListener = (delivery: Delivery) => unknown;

export interface Subscription {
  /**
   * Resolves when deliveries of other processes arrive, too, or after a short time if they cannot. Read the
   * database after it, then follow deliveries: only lost pub/sub messages can be missed.
   */
  readonly ready: Promise<void>;
  end(): void;
}

/**
 * Delivers stored notifications to the member's open event streams, on every process.
 *
 * Every implementation guarantees: within one process the deliveries of a member arrive at once, in the order
 * of publishing, each once. Across processes one may be lost or late: a listener that sees a gap in `n` reads
 * what is missing from the database.
 */
export interface DeliveryBus {
  /** To listeners on every process. */
  publish(delivery: Delivery): void;
  /** To listeners on this process alone. @returns whether one had not received it */
  publishHere(delivery: Delivery): boolean;
  subscribe(memberNo: number, listener: DeliveryListener): Subscription;
  /** Whether the member has a listener on this process. */
  hasListener(memberNo: number): boolean;
  /** Ends all subscriptions. */
  close(): void;
}
