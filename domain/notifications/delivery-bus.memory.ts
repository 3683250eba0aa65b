import type { Delivery, DeliveryBus, DeliveryListener, Subscription } from './delivery-bus.js';

const READY = Promise.resolve();

/** Those of a member. Most have one, and a set for each would take 170 bytes. */
type Listeners = DeliveryListener | Set<DeliveryListener>;

/** Deliveries within one process. */
export class MemoryDeliveryBus implements DeliveryBus {
  readonly #listeners = new Map<number, Listeners>();

  publish(delivery: Delivery): void {
    this.publishHere(delivery);
  }

  publishHere(delivery: Delivery): boolean {
    const mine = this.#listeners.get(delivery.memberNo);
    if (typeof mine === 'function') return mine(delivery) === true;
    let isNew = false;
    for (const listener of mine ?? []) if (listener(delivery) === true) isNew = true;
    return isNew;
  }

  subscribe(memberNo: number, listener: DeliveryListener): Subscription {
    const mine = this.#listeners.get(memberNo);
    if (mine === undefined) this.#listeners.set(memberNo, listener);
    else if (mine instanceof Set) mine.add(listener);
    else this.#listeners.set(memberNo, new Set([mine, listener]));
    return { ready: READY, end: () => this.#remove(memberNo, listener) };
  }

  #remove(memberNo: number, listener: DeliveryListener): void {
    const mine = this.#listeners.get(memberNo);
    if (mine instanceof Set) mine.delete(listener);
    if (mine === listener || (mine instanceof Set && mine.size === 0)) this.#listeners.delete(memberNo);
  }

  hasListener(memberNo: number): boolean {
    return this.#listeners.has(memberNo);
  }

  close(): void {
    this.#listeners.clear();
  }
}
