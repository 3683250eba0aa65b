import type { Delivery, DeliveryBus, Subscription } from './delivery-bus.js';

const READY = Promise.resolve();

/** Deliveries within one process. */
export class MemoryDeliveryBus implements DeliveryBus {
  readonly #listeners = new Map<number, Set<(delivery: Delivery) => void>>();

  publish(delivery: Delivery): void {
    for (const listener of this.#listeners.get(delivery.memberNo) ?? []) listener(delivery);
  }

  publishHere(delivery: Delivery): void {
    this.publish(delivery);
  }

  subscribe(memberNo: number, listener: (delivery: Delivery) => void): Subscription {
    const mine = this.#listeners.get(memberNo) ?? new Set();
    this.#listeners.set(memberNo, mine.add(listener));
    return {
      ready: READY,
      end: () => {
        mine.delete(listener);
        if (mine.size === 0 && this.#listeners.get(memberNo) === mine) this.#listeners.delete(memberNo);
      },
    };
  }

  close(): void {
    this.#listeners.clear();
  }
}
