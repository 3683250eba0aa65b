import type { Clock } from '../../kernel/clock.js';
import { createCache } from '../../platform/cache.js';
import { type Bindings, BOUND_FOR_MS, clientKey, MAX_BOUND } from './bindings.js';

/**
 * @param max clients remembered
 * @param boundFor time a binding lasts, in ms
 */
export function createMemoryBindings(clock: Clock, max = 100_000, boundFor = BOUND_FOR_MS): Bindings {
  const clients = createCache<string, Map<number, number>>(max);

  return {
    touch(client, memberNo) {
      const key = clientKey(client);
      const members = clients.get(key) ?? new Map<number, number>();
      // Deleted and set again, so that the map's order is the order of the latest touch.
      members.delete(memberNo);
      members.set(memberNo, clock.now());
      if (members.size > MAX_BOUND) members.delete(members.keys().next().value as number);
      clients.set(key, members);
    },

    async find(client) {
      const since = clock.now() - boundFor;
      const members = clients.get(clientKey(client));
      if (!members) return [];
      return [...members]
        .filter(([, at]) => at > since)
        .map(([memberNo]) => memberNo)
        .reverse();
    },

    close() {},
  };
}
