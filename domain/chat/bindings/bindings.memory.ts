import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.js';
import { type Bindings, BOUND_FOR_MS, clientKey } from './bindings.js';

/** Most members remembered of one client: an office behind one address, not an army. */
const MAX_MEMBERS = 200;

/** @param max clients remembered */
export function createMemoryBindings(clock: Clock, max = 100_000): Bindings {
  const clients = new LRUCache<string, Map<number, number>>({ max });

  return {
    touch(client, memberNo) {
      const key = clientKey(client);
      const members = clients.get(key) ?? new Map<number, number>();
      // Deleted and set again, so that the map's order is the order of the latest touch.
      members.delete(memberNo);
      members.set(memberNo, clock.now());
      if (members.size > MAX_MEMBERS) members.delete(members.keys().next().value as number);
      clients.set(key, members);
    },

    async find(client) {
      const since = clock.now() - BOUND_FOR_MS;
      const members = clients.get(clientKey(client));
      if (!members) return [];
      return [...members]
        .filter(([, at]) => at > since)
        .map(([memberNo]) => memberNo)
        .reverse();
    },
  };
}
