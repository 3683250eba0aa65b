import { redisKeys } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';

/** Lifetime of a room's key, in lifetimes of an entry: a process frozen that long still learns of a clear. */
const KEY_LIFETIMES = 30;

/** Most rooms in one script call: about a millisecond of Redis's only thread. */
const ROOMS_PER_CALL = 100;

/** Divides rooms into those of one script call: a group each, ROOMS_PER_CALL at most. */
export function inCalls(rooms: Iterable<number>): number[][] {
  const calls: number[][] = [];
  /** The last call of each group. */
  const last = new Map<number, number[]>();
  for (const chatNo of rooms) {
    const group = redisKeys.roomGroup(chatNo);
    const call = last.get(group);
    if (call && call.length < ROOMS_PER_CALL) {
      call.push(chatNo);
    } else {
      const next = [chatNo];
      calls.push(next);
      last.set(group, next);
    }
  }
  return calls;
}

/** Who is present in a room, as of the version of its latest change. */
export type PresenceSnapshot = [version: number, ...memberNos: number[]];

/** The same, behind the room's position (from 1). */
type RoomSnapshot = [position: number, version: number, ...memberNos: number[]];

/** A change that a refresh has found, in the room at this position (from 1); see presence.lua. */
type PresenceChange = [position: number, memberNo: number, kind: number, versionOrAge: number];

/** Kinds of PresenceChange: the member is gone, is present. */
export const GONE = 0;
export const PRESENT = 1;

/** This process is to remove all of the member's connections. */
export const CLEARED = 2;

/** This process is to remove those that had entered before so long ago, ms. */
export const CLEARED_LATE = 3;

/** A room of this process, as `refresh` writes it. */
export interface RoomEntries {
  chatNo: number;
  /** Members present from this process, and when the latest of their connections entered (performance.now()). */
  present: [memberNo: number, at: number][];
  /** Members whose arrival or departure Redis has not confirmed: their current state is among the changes. */
  unconfirmed: ReadonlySet<number>;
  /** The highest version that this process knows of the room. */
  version: number;
  /** Whether its connections know all changes up to that version: then the room is only told if there was one since. */
  isComplete: boolean;
}

/** One room as an argument of the script: `1700000000000000:3@60000,+9@1200,-4`. */
function argumentOf({ present, unconfirmed, version, isComplete }: RoomEntries, now: number): string {
  const departed = new Set(unconfirmed);
  const members = present.map(([memberNo, at]) => {
    const sign = departed.delete(memberNo) ? '+' : '';
    return `${sign}${memberNo}@${Math.ceil(now - at)}`;
  });
  for (const memberNo of departed) members.push(String(-memberNo));
  return `${version}${isComplete ? '=' : ':'}${members.join(',')}`;
}

/** Presence in Redis (presence.lua). Every method resolves to undefined while Redis is down, or refuses to store. */
export class PresenceStore {
  readonly #redis: RedisConnection;
  readonly #script = loadScript('domain/chat/presence.lua');
  /** Members who are there must not be forgotten for lack of memory; a room's entries are as few as its members. */
  readonly #writingScript = loadScript('domain/chat/presence.lua', { allowsOom: true });
  readonly #lifetime: number;
  readonly #onLoss: () => void;

  /**
   * @param lifetime how long an entry lasts that is not refreshed, ms; the same in all processes
   * @param onLoss called before an answer that Redis gave without its data
   */
  constructor(redis: RedisConnection, lifetime: number, onLoss: () => void) {
    this.#redis = redis;
    this.#lifetime = lifetime;
    this.#onLoss = onLoss;
  }

  /** @returns as presence.lua does; so do the methods below */
  enter(chatNo: number, memberNo: number): Promise<[arrival: number, cleared: number] | undefined> {
    return this.#run('enter', [chatNo], memberNo);
  }

  leave(chatNo: number, memberNo: number): Promise<number | undefined> {
    return this.#run('leave', [chatNo], memberNo);
  }

  /** How long a removal is known, ms. */
  get clearedFor(): number {
    return this.#lifetime * KEY_LIFETIMES;
  }

  /** @param age how long ago the member left, ms: 0 unless Redis did not answer then */
  clear(
    chatNo: number,
    memberNo: number,
    age = 0,
  ): Promise<[gone: number, others: number, version: number] | undefined> {
    return this.#run('clear', [chatNo], memberNo, age);
  }

  list(chatNo: number): Promise<PresenceSnapshot | undefined> {
    return this.#run('list', [chatNo]);
  }

  /**
   * Renews this process's entries in rooms of one group (redisKeys.roomGroup).
   * @param removeExpired whether entries of other processes that have expired are removed
   * @returns what has changed, and who is present in the rooms with changes that this process may not know
   */
  refresh(
    rooms: RoomEntries[],
    removeExpired: boolean,
  ): Promise<[PresenceChange[], RoomSnapshot[]] | undefined> {
    const chatNos = rooms.map(({ chatNo }) => chatNo);
    const now = performance.now();
    const entries = rooms.map((room) => argumentOf(room, now));
    return this.#run('refresh', chatNos, removeExpired ? 1 : 0, ...entries);
  }

  async #run<T>(command: string, chatNos: number[], ...args: (number | string)[]): Promise<T | undefined> {
    const { processId } = this.#redis;
    const script = command === 'list' ? this.#script : this.#writingScript;
    const answer = await this.#redis.ask((commands) =>
      script(
        commands,
        [...chatNos.map(redisKeys.presence), redisKeys.presenceMark(chatNos[0] as number)],
        [command, processId, this.#lifetime, this.clearedFor, ...args],
      ),
    );
    const [lost, result] = (answer ?? [0, undefined]) as [number, T | undefined];
    if (lost === 1) this.#onLoss();
    return result;
  }
}
