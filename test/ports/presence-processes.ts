import { expect } from 'chai';
import type { Presence } from '../../domain/chat/presence.js';
import { RedisPresence } from '../../domain/chat/presence.redis.js';
import type { PresenceTimes } from '../../domain/chat/presence-times.js';
import { RedisConnection } from '../../domain/platform/redis/connection.js';
import { eventually } from '../support/eventually.js';
import { createOpenRooms, type FakeRooms } from '../support/open-rooms.js';
import { hasRedisServer, openConnections, startRedis, type TestRedis } from '../support/redis.js';

/** In ms: a hundredth of production's, except the lifetime, which no test waits for, and looks, which only their tests have. */
export const TIMES = { lifetime: 30_000, refreshEvery: 60, lookEvery: 120_000, grace: 50, latency: 20 };

/** For tests of presence that ends with its process. A process that stands still for longer is gone, too. */
export const SHORT = { ...TIMES, lifetime: 1_000 };

/** One of several processes, and ways to disturb it. */
export interface PresenceProcess {
  presence: Presence;
  redis: RedisConnection;
  /** What it has published, in order, and the versions of that. */
  published: [chatNo: number, memberNo: number, present: boolean][];
  versions: number[];
  openRooms: FakeRooms;
  /** Calls to Redis that have ended. */
  calls: number;
  /** Calls to Redis are not made and get no reply, as in a stopped process. */
  frozen: boolean;
  /** Calls to Redis are made, and their replies are lost. */
  losesReplies: boolean;
  /** Calls to Redis are not made, and end without a reply when this resolves. */
  late?: Promise<void>;
}

export const publishedOf = ({ published }: PresenceProcess, memberNo: number) =>
  published.filter(([, no]) => no === memberNo);

/** Less than the timeout of a Redis command, ms: within it, nothing has waited for a peer or for Redis. */
export const AT_ONCE_MS = 900;

/** Resolves when a process has refreshed its rooms in Redis a few times. */
export async function refreshed(process: PresenceProcess): Promise<void> {
  const before = process.calls;
  await eventually(() => expect(process.calls).above(before + 3));
}

/** Processes that share a Redis of their own, for the suite that calls this; skipped without redis-server. */
export function usePresenceProcesses() {
  const connections = openConnections();
  let server: TestRedis;
  let processes: PresenceProcess[] = [];

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  afterEach(async () => {
    await Promise.all(processes.map(({ presence }) => presence.close()));
    processes = [];
    await connections.close();
  });

  async function start(times: PresenceTimes = TIMES): Promise<PresenceProcess> {
    const redis = await connections.connect(server.url);
    const openRooms = createOpenRooms();
    const process: PresenceProcess = {
      redis,
      openRooms,
      published: [],
      versions: [],
      calls: 0,
      frozen: false,
      losesReplies: false,
      presence: new RedisPresence(redis, openRooms, times),
    };
    const { ask } = redis;
    let isAsking = false;
    Object.defineProperty(redis, 'down', {
      get: () =>
        Reflect.get(RedisConnection.prototype, 'down', redis) ||
        (!isAsking && (process.frozen || process.losesReplies)),
    });
    redis.ask = async (question) => {
      const { late } = process;
      if (late) await late;
      isAsking = true;
      const answer = process.frozen || late ? undefined : ask.call(redis, question);
      isAsking = false;
      const reply = await answer;
      process.calls += 1;
      return process.losesReplies ? undefined : (reply as never);
    };
    process.presence.onChange((chatNo, memberNo, present, version) => {
      process.published.push([chatNo, memberNo, present]);
      process.versions.push(version);
    });
    processes.push(process);
    return process;
  }

  return { start, server: () => server };
}
