import type { Clock } from '../kernel/clock.js';
import { createCache } from '../platform/cache.js';
import { clientHash, MAX_MEMBERS, RECENT_MS, type RecentClients } from './recent-clients.js';

/**
 * @param max clients remembered
 * @param recentFor how long a member is remembered, ms
 */
export function createMemoryRecentClients(clock: Clock, max = 100_000, recentFor = RECENT_MS): RecentClients {
  const clients = createCache<string, Map<number, number>>(max);

  return {
    touch(client, memberNo) {
      const key = clientHash(client);
      const members = clients.get(key) ?? new Map<number, number>();
      // Deleted first, so that the map's order is that of the latest touch.
      members.delete(memberNo);
      members.set(memberNo, clock.now());
      if (members.size > MAX_MEMBERS) members.delete(members.keys().next().value as number);
      clients.set(key, members);
    },

    async find(client) {
      const since = clock.now() - recentFor;
      const members = [...(clients.get(clientHash(client)) ?? [])];
      return members
        .filter(([, at]) => at > since)
        .map(([memberNo]) => memberNo)
        .reverse();
    },

    close() {},
  };
}
