/**
 * All keys and channels in Redis. The prefix separates them from others on the same server: channels are not
 * separated by database number. Stored names stay (`wake-ups`), so that processes of two versions can
 * run side by side during a reload.
 */
const PREFIX = 'adoption:';

/**
 * Groups of rooms. A group is a Redis Cluster hash tag, so that one script can work on many of its rooms;
 * this number still spreads evenly over the nodes.
 */
const ROOM_GROUPS = 256;

export const redisKeys = {
  /** Exists while a process can write. */
  alive: (processId: string) => `${PREFIX}alive:${processId}`,
  /** The room's group: its rooms share a hash slot. */
  roomGroup: (chatNo: number) => chatNo % ROOM_GROUPS,
  /** Sorted set of a room's present members; format: domain/chat/presence.lua. */
  presence: (chatNo: number) => `${PREFIX}presence:{${chatNo % ROOM_GROUPS}}:${chatNo}`,
  /** The mark of a room's group, and those of all groups; see presence-interruptions.ts. */
  presenceMark: (chatNo: number) => `${PREFIX}presence:{${chatNo % ROOM_GROUPS}}:kept`,
  presenceMarks: () => Array.from({ length: ROOM_GROUPS }, (_, group) => redisKeys.presenceMark(group)),
  /** A member seen from a client; format: domain/chat/recent-clients.lua. */
  recentClients: (clientHash: string, memberNo: number) =>
    `${PREFIX}recent-clients:${clientHash}:${memberNo}`,
  /** Prefix of a budget's counters. */
  rateLimit: (budget: string) => `${PREFIX}limit:${budget}`,
  /** What a member has stored of a kind; format: domain/platform/rate-limits/quotas.lua. */
  quota: (kind: string, memberNo: number) => `${PREFIX}quota:${kind}:${memberNo}`,
};

export const redisChannels = {
  /** A member's notifications, for their event streams; for '', the prefix of these channels. */
  deliveries: (memberNo: number | '') => `${PREFIX}wake-ups:${memberNo}`,
  /** Members removed from a room on every process. */
  presenceCleared: `${PREFIX}presence-cleared`,
  /** Redis has lost who is present. */
  presenceLost: `${PREFIX}presence-lost`,
  /** What each process wrote, every second. */
  reports: `${PREFIX}reports`,
  /** A process's messages to itself, for the health check. */
  echo: (processId: string) => `${PREFIX}echo:${processId}`,
  /** Prefix of the Socket.IO adapter's channels. */
  sockets: `${PREFIX}sockets`,
};
