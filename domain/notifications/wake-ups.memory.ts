import type { Delivery, WakeUps } from './wake-ups.js';

/** Wake-ups within one process. */
export function createMemoryWakeUps(): WakeUps {
  const listeners = new Map<number, Set<(delivery: Delivery) => void>>();
  return {
    publish(delivery) {
      for (const listener of listeners.get(delivery.memberNo) ?? []) listener(delivery);
    },
    subscribe(memberNo, listener) {
      const mine = listeners.get(memberNo) ?? new Set();
      listeners.set(memberNo, mine.add(listener));
      return () => {
        mine.delete(listener);
        if (mine.size === 0 && listeners.get(memberNo) === mine) listeners.delete(memberNo);
      };
    },
  };
}
