import { redisChannels, redisKeys } from '../../kernel/redis-keys.js';
import type { RedisConnection } from '../../platform/redis.js';
import { loadScript } from '../../platform/redis-script.js';
import { createLocalPresence } from './local-presence.js';
import type { Presence, PresenceListener } from './presence.js';

/** All in ms. */
export interface PresenceTimes {
  /** How long a member stays present without their process saying so again. */
  lifetime: number;
  /** How often a process says so; several times a lifetime, so that one lost changes nothing. */
  refreshEvery: number;
  /**
   * After an interruption, the time in which nobody's entries are removed: the others come back to
   * Redis no sooner than we do, and their members have not gone.
   */
  grace: number;
}

/** A dead process's members are gone after lifetime + refreshEvery at the latest: within the 30 s promised. */
const DEFAULT_TIMES: PresenceTimes = { lifetime: 20_000, refreshEvery: 6_000, grace: 5_000 };

/** Lifetimes that a room's key outlives its last entry, and so a process may be frozen and still hear of a clear. */
const KEY_LIFETIMES = 30;

/** Most rooms one script call touches: some tenths of a millisecond of the server's only thread. */
const ROOMS_PER_CALL = 100;

/** What refresh.lua tells of a member. */
const GONE = 0;
const CLEARED = 2;

/**
 * Presence of many processes: one entry per member and process in a sorted set per room, which ends
 * unless its process refreshes it. What this process knows of its own connections is answered without
 * asking, and stays right while Redis is away.
 */
export function createRedisPresence(redis: RedisConnection, times: PresenceTimes = DEFAULT_TIMES): Presence {
  const { processId } = redis;
  const scripts = {
    enter: loadScript('domain/chat/presence/enter.lua'),
    leave: loadScript('domain/chat/presence/leave.lua'),
    clear: loadScript('domain/chat/presence/clear.lua'),
    list: loadScript('domain/chat/presence/list.lua'),
    refresh: loadScript('domain/chat/presence/refresh.lua'),
  };
  const local = createLocalPresence();
  const keyLifetime = times.lifetime * KEY_LIFETIMES;
  const listeners: PresenceListener[] = [];
  /** Members who left a room while Redis could not be told. */
  const unsaid = new Map<number, Set<number>>();
  let refreshedAt = performance.now();
  let interruptedAt = performance.now();
  let closed = false;

  function say(chatNo: number, memberNo: number): void {
    const members = unsaid.get(chatNo);
    members?.delete(memberNo);
    if (members?.size === 0) unsaid.delete(chatNo);
  }

  function leaveUnsaid(chatNo: number, memberNo: number): void {
    if (local.has(chatNo, memberNo)) return;
    unsaid.set(chatNo, (unsaid.get(chatNo) ?? new Set()).add(memberNo));
  }

  /** Refreshes rooms of one group. @returns whether Redis took it */
  async function refreshRooms(chatNos: number[]): Promise<boolean> {
    const { turn } = local;
    const left = chatNos.map((chatNo) => [...(unsaid.get(chatNo) ?? [])]);
    const members = chatNos.map((chatNo, i) =>
      [...local.members(chatNo), ...(left[i] as number[]).map((memberNo) => -memberNo)].join(','),
    );
    const mayRemove = performance.now() - interruptedAt >= times.grace;
    const news = (await redis.ask((commands) =>
      scripts.refresh(commands, chatNos.map(redisKeys.presence), [
        processId,
        times.lifetime,
        keyLifetime,
        mayRemove ? 1 : 0,
        ...members,
      ]),
    )) as [number, number, number][] | undefined;
    if (!news) return false;
    for (const [i, chatNo] of chatNos.entries()) for (const memberNo of left[i] ?? []) say(chatNo, memberNo);
    for (const [position, memberNo, what] of news) {
      const chatNo = chatNos[position - 1] as number;
      if (what === CLEARED) local.clear(chatNo, memberNo, turn);
      else for (const listener of listeners) listener(chatNo, memberNo, what !== GONE);
    }
    return true;
  }

  async function refreshAll(): Promise<void> {
    const groups = new Map<number, number[]>();
    for (const chatNo of new Set([...local.rooms(), ...unsaid.keys()])) {
      const group = groups.get(redisKeys.roomGroup(chatNo));
      if (group) group.push(chatNo);
      else groups.set(redisKeys.roomGroup(chatNo), [chatNo]);
    }
    // Frozen for so long that ours have run out: those of the others may have been frozen with us.
    if (performance.now() - refreshedAt > times.lifetime) interruptedAt = performance.now();
    refreshedAt = performance.now();
    for (const chatNos of groups.values()) {
      for (let at = 0; at < chatNos.length; at += ROOMS_PER_CALL) {
        if (!(await refreshRooms(chatNos.slice(at, at + ROOMS_PER_CALL)))) return;
      }
    }
  }

  let running: Promise<void> | undefined;
  let again = false;

  /** One round at a time; what asks for one meanwhile gets another behind it. */
  function refresh(): Promise<void> {
    again = true;
    running ??= (async () => {
      try {
        while (again) {
          again = false;
          await refreshAll();
        }
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  const timer = setInterval(() => void refresh(), times.refreshEvery);
  timer.unref();
  const stopListening = redis.on('back', () => {
    interruptedAt = performance.now();
    void refresh();
  });

  const channel = redisChannels.presenceCleared;
  const subscriber = redis.subscriber();
  function onMessage(from: Buffer, message: Buffer): void {
    if (from.toString() !== channel) return;
    const chatNo = Number(message);
    if (!Number.isSafeInteger(chatNo)) throw new Error('presence-cleared: not a room number');
    // Not believed but looked up: the member may have entered again since.
    if (local.members(chatNo).length > 0) void refreshRooms([chatNo]);
  }
  subscriber.on('messageBuffer', onMessage);
  void subscriber.subscribe(channel);

  async function present(chatNo: number): Promise<number[]> {
    const members = await redis.ask((commands) => scripts.list(commands, [redisKeys.presence(chatNo)], []));
    return (members as number[] | undefined) ?? [];
  }

  return {
    async enter(chatNo, memberNo, connection) {
      const { turn } = local;
      const first = local.enter(chatNo, memberNo, connection);
      say(chatNo, memberNo);
      const answer = (await redis.ask((commands) =>
        scripts.enter(
          commands,
          [redisKeys.presence(chatNo)],
          [memberNo, processId, times.lifetime, keyLifetime],
        ),
      )) as [number, number] | undefined;
      if (!answer) return first;
      const [arrived, cleared] = answer;
      if (cleared === 1) local.clear(chatNo, memberNo, turn);
      return arrived === 1;
    },

    async leave(chatNo, memberNo, connection) {
      if (!local.leave(chatNo, memberNo, connection)) return false;
      const gone = await redis.ask((commands) =>
        scripts.leave(commands, [redisKeys.presence(chatNo)], [memberNo, processId]),
      );
      if (gone === undefined) leaveUnsaid(chatNo, memberNo);
      return gone === undefined || gone === 1;
    },

    async clear(chatNo, memberNo) {
      const here = local.clear(chatNo, memberNo);
      const answer = (await redis.ask((commands) =>
        scripts.clear(commands, [redisKeys.presence(chatNo)], [memberNo, processId, keyLifetime]),
      )) as [number, number] | undefined;
      if (!answer) {
        if (here) leaveUnsaid(chatNo, memberNo);
        return here;
      }
      const [anywhere, others] = answer;
      if (others > 0) void redis.publisher().publish(channel, String(chatNo));
      return here || anywhere === 1;
    },

    async isPresent(chatNo, memberNo) {
      return local.has(chatNo, memberNo) || (await present(chatNo)).includes(memberNo);
    },

    isHere: local.has,

    async list(chatNo) {
      const members = new Set([...(await present(chatNo)), ...local.members(chatNo)]);
      return [...members].sort((a, b) => a - b);
    },

    watch(listener) {
      listeners.push(listener);
    },

    async close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      stopListening();
      subscriber.off('messageBuffer', onMessage);
      void subscriber.unsubscribe(channel);
      for (const chatNo of [...local.rooms()]) {
        for (const memberNo of local.members(chatNo)) {
          local.clear(chatNo, memberNo);
          leaveUnsaid(chatNo, memberNo);
        }
      }
      await refresh();
    },
  };
}
