import type { Delivery, DeliveryBus } from './delivery-bus.js';

const READY = Promise.resolve();

/** Deliveries within one process. */
export function createMemoryDeliveryBus(): DeliveryBus {
  const listeners = new Map<number, Set<(delivery: Delivery) => void>>();

  function publish(delivery: Delivery): void {
    for (const listener of listeners.get(delivery.memberNo) ?? []) listener(delivery);
  }

  return {
    publish,
    publishHere: publish,
    subscribe(memberNo, listener) {
      const mine = listeners.get(memberNo) ?? new Set();
      listeners.set(memberNo, mine.add(listener));
      return {
        ready: READY,
        end() {
          mine.delete(listener);
          if (mine.size === 0 && listeners.get(memberNo) === mine) listeners.delete(memberNo);
        },
      };
    },
    close: () => listeners.clear(),
  };
}
