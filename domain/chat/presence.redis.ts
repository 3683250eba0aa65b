import { redisChannels, redisKeys } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { createLocalPresence } from './local-presence.js';
import type { OpenRooms, Presence, PresenceListener } from './presence.js';
import { CLEARED, GONE, loadPresenceScripts, type NewsRow, type RoomAnswer } from './presence-scripts.js';
import { createToldPresence } from './told-presence.js';

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

/**
 * Presence of many processes: one entry per member and process in a sorted set per room, which ends
 * unless its process refreshes it. What this process knows of its own connections is answered without
 * asking, and stays right while Redis is away. Changes are told in the order in which Redis made them:
 * it numbers them by its clock, in µs.
 */
export function createRedisPresence(
  redis: RedisConnection,
  openRooms: OpenRooms,
  times: PresenceTimes = DEFAULT_TIMES,
): Presence {
  const { processId } = redis;
  const scripts = loadPresenceScripts();
  const local = createLocalPresence();
  const told = createToldPresence((chatNo) => local.hasRoom(chatNo));
  const keyLifetime = times.lifetime * KEY_LIFETIMES;
  const listeners: PresenceListener[] = [];
  /** Members by room whose coming or going Redis has not confirmed: the next refresh tells what then holds. */
  const unconfirmed = new Map<number, Set<number>>();
  let refreshedAt = performance.now();
  let interruptedAt = performance.now();
  let closed = false;

  function tell(chatNo: number, memberNo: number, present: boolean, version: number): void {
    told.note(version);
    for (const listener of listeners) listener(chatNo, memberNo, present, version);
  }

  function leaveUnconfirmed(chatNo: number, memberNo: number): void {
    unconfirmed.set(chatNo, (unconfirmed.get(chatNo) ?? new Set()).add(memberNo));
  }

  /** Redis has not answered: what is known here is told here, and to everybody when it answers again. */
  function tellAlone(chatNo: number, memberNo: number, present: boolean): void {
    leaveUnconfirmed(chatNo, memberNo);
    // The answer was waited for: it may be otherwise by now, and told.
    if (local.has(chatNo, memberNo) === present) tell(chatNo, memberNo, present, told.next());
  }

  /** The member's last connection here has left a room. */
  async function tellGone(chatNo: number, memberNo: number): Promise<void> {
    const answer = (await redis.ask((commands) =>
      scripts.leave(
        commands,
        [redisKeys.presence(chatNo)],
        [memberNo, processId, times.lifetime, keyLifetime],
      ),
    )) as [gone: number, version: number] | undefined;
    if (!answer) tellAlone(chatNo, memberNo, false);
    else if (answer[0] === 1) tell(chatNo, memberNo, false, answer[1]);
  }

  /** Takes the member's connections that entered up to a turn out of a room. @returns whether there was one */
  function takeOut(chatNo: number, memberNo: number, upTo?: number): boolean {
    const connections = local.clear(chatNo, memberNo, upTo);
    for (const connection of connections) openRooms.takeOut(chatNo, connection);
    return connections.length > 0;
  }

  const mayRemove = () => performance.now() - interruptedAt >= times.grace;

  /** Tells the connections here what they have not heard of a room. */
  function makeGood(chatNo: number, [version, ...members]: RoomAnswer): void {
    const present = new Set([...members, ...local.members(chatNo)]);
    for (const [memberNo, isPresent] of told.correct(chatNo, present, version)) {
      openRooms.presenceHere(chatNo, memberNo, isPresent);
    }
  }

  /** Refreshes rooms of one group. @returns whether Redis took it */
  async function refreshRooms(chatNos: number[]): Promise<boolean> {
    const { turn } = local;
    const marked = chatNos.map((chatNo) => [...(unconfirmed.get(chatNo) ?? [])]);
    // What is marked while Redis is asked is for the next refresh.
    for (const chatNo of chatNos) unconfirmed.delete(chatNo);
    const members = chatNos.map((chatNo, i) => {
      const marks = marked[i] as number[];
      const here = local.members(chatNo).map((no) => (marks.includes(no) ? `+${no}` : no));
      return [...here, ...marks.filter((no) => !local.has(chatNo, no)).map((no) => -no)].join(',');
    });
    const isSettled = mayRemove();
    const answer = (await redis.ask((commands) =>
      scripts.refresh(commands, chatNos.map(redisKeys.presence), [
        processId,
        times.lifetime,
        keyLifetime,
        isSettled ? 1 : 0,
        ...members,
      ]),
    )) as [NewsRow[], RoomAnswer[]] | undefined;
    if (!answer) {
      for (const [i, chatNo] of chatNos.entries()) {
        for (const memberNo of marked[i] as number[]) leaveUnconfirmed(chatNo, memberNo);
      }
      return false;
    }
    const [news, states] = answer;
    for (const [position, memberNo, what, version] of news) {
      const chatNo = chatNos[position - 1] as number;
      if (what === CLEARED) takeOut(chatNo, memberNo, turn);
      else tell(chatNo, memberNo, what !== GONE, version);
    }
    for (const [i, chatNo] of chatNos.entries()) {
      if (isSettled && told.isListed(chatNo)) makeGood(chatNo, states[i] as RoomAnswer);
    }
    return true;
  }

  async function refreshAll(): Promise<void> {
    // Only connections that are in their rooms are said again.
    for (const [chatNo, memberNo] of local.confirm(openRooms.isInRoom)) void tellGone(chatNo, memberNo);
    const groups = new Map<number, number[]>();
    for (const chatNo of new Set([...local.rooms(), ...unconfirmed.keys()])) {
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
  let settled: NodeJS.Timeout | undefined;
  const stopListening = redis.on('back', () => {
    interruptedAt = performance.now();
    void refresh();
    // And once more when the others are back, too: changes may not have been heard.
    clearTimeout(settled);
    settled = setTimeout(() => void refresh(), times.grace + 1).unref();
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

  function ask(chatNo: number): Promise<RoomAnswer | undefined> {
    const answer = redis.ask((commands) => scripts.list(commands, [redisKeys.presence(chatNo)], []));
    return answer as Promise<RoomAnswer | undefined>;
  }

  return {
    async enter(chatNo, memberNo, connection) {
      if (!openRooms.isInRoom(chatNo, connection)) return;
      const { turn } = local;
      if (!local.hasRoom(chatNo)) told.forget(chatNo);
      const first = local.enter(chatNo, memberNo, connection);
      const answer = (await redis.ask((commands) =>
        scripts.enter(
          commands,
          [redisKeys.presence(chatNo)],
          [memberNo, processId, times.lifetime, keyLifetime],
        ),
      )) as [arrived: number, cleared: number, version: number] | undefined;
      if (!answer) {
        if (first) tellAlone(chatNo, memberNo, true);
        return;
      }
      const [arrived, cleared, version] = answer;
      if (cleared === 1) takeOut(chatNo, memberNo, turn);
      if (arrived === 1) tell(chatNo, memberNo, true, version);
    },

    async leave(chatNo, memberNo, connection) {
      if (local.leave(chatNo, memberNo, connection)) await tellGone(chatNo, memberNo);
    },

    async clear(chatNo, memberNo) {
      const here = takeOut(chatNo, memberNo);
      const answer = (await redis.ask((commands) =>
        scripts.clear(commands, [redisKeys.presence(chatNo)], [memberNo, processId, keyLifetime]),
      )) as [anywhere: number, others: number, version: number] | undefined;
      if (!answer) {
        if (here) tellAlone(chatNo, memberNo, false);
        return;
      }
      const [anywhere, others, version] = answer;
      if (others > 0) void redis.publisher().publish(channel, String(chatNo));
      if (here || anywhere === 1) tell(chatNo, memberNo, false, version);
    },

    async isPresent(chatNo, memberNo) {
      if (local.has(chatNo, memberNo)) return true;
      const [, ...members] = (await ask(chatNo)) ?? [0];
      return members.includes(memberNo);
    },

    isHere: local.has,

    async list(chatNo) {
      const answer = await ask(chatNo);
      if (local.hasRoom(chatNo)) {
        if (answer && (mayRemove() || !told.isListed(chatNo))) makeGood(chatNo, answer);
        told.list(chatNo);
      }
      // Those who come in now know what those know who are in already, and hear what they will hear.
      const [, ...members] = answer ?? [0, ...told.members(chatNo)];
      return [...new Set([...members, ...local.members(chatNo)])].sort((a, b) => a - b);
    },

    watch: (listener) => void listeners.push(listener),

    heard: told.accept,

    async close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      clearTimeout(settled);
      stopListening();
      subscriber.off('messageBuffer', onMessage);
      void subscriber.unsubscribe(channel);
      for (const chatNo of [...local.rooms()]) {
        for (const memberNo of local.members(chatNo)) {
          local.clear(chatNo, memberNo);
          leaveUnconfirmed(chatNo, memberNo);
        }
      }
      await refresh();
    },
  };
}
