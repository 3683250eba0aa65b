/**
 * Every key and channel in Redis. One prefix tells ours from anybody else's on the same server:
 * channels know no database numbers.
 */
const PREFIX = 'adoption:';

/**
 * Into how many groups rooms are put. A group is a Redis Cluster hash tag, so that one script may
 * touch many rooms of it at once; this many still spread evenly over any cluster's nodes.
 */
const ROOM_GROUPS = 256;

export const redisKeys = {
  /** There while a process is connected and may write. */
  alive: (processId: string) => `${PREFIX}alive:${processId}`,
  /** Number of the group a room is in: rooms of one group share a hash slot. */
  roomGroup: (chatNo: number) => chatNo % ROOM_GROUPS,
  /** Sorted set of who is present in a room (domain/chat/presence.enter.lua tells its form). */
  presence: (chatNo: number) => `${PREFIX}presence:{${chatNo % ROOM_GROUPS}}:${chatNo}`,
  /** Sorted set of the members bound to a client, by the time they were last seen. */
  bindings: (clientHash: string) => `${PREFIX}bindings:${clientHash}`,
  /** Beginning of one budget's counters. */
  rateLimit: (budget: string) => `${PREFIX}limit:${budget}`,
};

export const redisChannels = {
  /** Notifications of one member, for their event streams; of nobody, the beginning of all these. */
  wakeUps: (memberNo: number | '') => `${PREFIX}wake-ups:${memberNo}`,
  /** Members who were taken out of a room on every process. */
  presenceCleared: `${PREFIX}presence-cleared`,
  /** A process's messages to itself, which prove that the path through Redis lives. */
  echo: (processId: string) => `${PREFIX}echo:${processId}`,
  /** Beginning of the Socket.IO adapter's channels. */
  sockets: `${PREFIX}sockets`,
};
