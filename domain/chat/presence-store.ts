import { redisKeys } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';

/** Lifetime of a room's key, in lifetimes of an entry: a process frozen that long still learns of a clear. */
const KEY_LIFETIMES = 30;

/** Who is present in a room, as of the version of its latest change. */
export type PresenceSnapshot = [version: number, ...memberNos: number[]];

/** A change that a refresh has found, in the room at this position (from 1); see presence.lua. */
type PresenceChange = [position: number, memberNo: number, kind: number, version: number];

/** Kinds of PresenceChange. CLEARED: this process is to remove the member's connections. */
export const GONE = 0;
export const CLEARED = 2;

/** A room of this process, as `refresh` writes it. */
export interface RoomEntries {
  chatNo: number;
  /** Members present from this process. */
  present: number[];
  /**
   * Members whose arrival or departure Redis has not confirmed, and when it was (performance.now()): their current state is
   * among the changes.
   */
  unconfirmed: ReadonlyMap<number, number>;
  /** The highest version that this process knows of the room. */
  version: number;
}

/** One room as an argument of the script: `1700000000000000:3,+9@1200,-4`. */
function argumentOf({ present, unconfirmed, version }: RoomEntries): string {
  const now = performance.now();
  const departed = [...unconfirmed.keys()].filter((memberNo) => !present.includes(memberNo));
  const members = [
    ...present.map((memberNo) => {
      const at = unconfirmed.get(memberNo);
      return at === undefined ? memberNo : `+${memberNo}@${Math.ceil(now - at)}`;
    }),
    ...departed.map((memberNo) => -memberNo),
  ];
  return `${version}:${members.join(',')}`;
}

/** Presence in Redis (presence.lua). Every method resolves to undefined while Redis is down. */
export class PresenceStore {
  readonly #redis: RedisConnection;
  readonly #script = loadScript('domain/chat/presence.lua');
  readonly #lifetime: number;

  /** @param lifetime how long an entry lasts that is not refreshed, ms */
  constructor(redis: RedisConnection, lifetime: number) {
    this.#redis = redis;
    this.#lifetime = lifetime;
  }

  /** @returns as presence.lua does; so do the methods below */
  enter(chatNo: number, memberNo: number): Promise<[arrival: number, cleared: number] | undefined> {
    return this.#run('enter', [chatNo], memberNo);
  }

  leave(chatNo: number, memberNo: number): Promise<number | undefined> {
    return this.#run('leave', [chatNo], memberNo);
  }

  clear(
    chatNo: number,
    memberNo: number,
  ): Promise<[wasPresent: number, others: number, version: number] | undefined> {
    return this.#run('clear', [chatNo], memberNo);
  }

  list(chatNo: number): Promise<PresenceSnapshot | undefined> {
    return this.#run('list', [chatNo]);
  }

  /**
   * Renews this process's entries in rooms of one group (redisKeys.roomGroup).
   * @param removeExpired whether entries of other processes that have expired are removed
   * @returns what has changed, and who is present in each of the rooms
   */
  refresh(
    rooms: RoomEntries[],
    removeExpired: boolean,
  ): Promise<[PresenceChange[], PresenceSnapshot[]] | undefined> {
    const chatNos = rooms.map(({ chatNo }) => chatNo);
    return this.#run('refresh', chatNos, removeExpired ? 1 : 0, ...rooms.map(argumentOf));
  }

  async #run<T>(command: string, chatNos: number[], ...args: (number | string)[]): Promise<T | undefined> {
    const { processId } = this.#redis;
    const answer = await this.#redis.ask((commands) =>
      this.#script(commands, chatNos.map(redisKeys.presence), [
        ...[command, processId, this.#lifetime, this.#lifetime * KEY_LIFETIMES],
        ...args,
      ]),
    );
    return answer as T | undefined;
  }
}
