import type { NotificationView } from '../kernel/live.js';

/** A stored notification on its way to whoever is listening for its member. */
export interface Delivery {
  memberNo: number;
  /** Its number among the member's notifications. */
  n: number;
  view: NotificationView;
}

/**
 * Wakes the open event streams of a member.
 *
 * What an implementer owes: within one process deliveries of a member arrive in the order of
 * publishing. Across processes one may be lost or late: a listener that sees a jump in `n` reads what
 * is missing from the database.
 */
export interface WakeUps {
  publish(delivery: Delivery): void;
  /** @returns a function that ends the subscription */
  subscribe(memberNo: number, listener: (delivery: Delivery) => void): () => void;
}
