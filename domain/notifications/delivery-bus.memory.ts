import type { Delivery, DeliveryBus, DeliveryListener, Subscription } from './delivery-bus.js';

const READY = Promise.resolve();

/** Deliveries within one process. */
export class MemoryDeliveryBus implements DeliveryBus {
  readonly #listeners = new Map<number, Set<DeliveryListener>>();

  publish(delivery: Delivery): void {
    this.publishHere(delivery);
  }

  publishHere(delivery: Delivery): boolean {
    let isNew = false;
    for (const listener of this.#listeners.get(delivery.memberNo) ?? [])
      if (listener(delivery) === true) isNew = true;
    return isNew;
  }

  subscribe(memberNo: number, listener: DeliveryListener): Subscription {
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
