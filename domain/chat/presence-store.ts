import { redisKeys } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';

/** Lifetime of a room's key in lifetimes of an entry: a process frozen that long still learns of a clear. */
const KEY_LIFETIMES = 30;

/** Who is present in a room, as of the version of its latest change. */
export interface PresenceSnapshot {
  version: number;
  memberNos: number[];
}

/** A change that a refresh has found; `cleared`: this process is to remove the member's connections. */
export interface PresenceChange {
  chatNo: number;
  memberNo: number;
  kind: 'gone' | 'present' | 'cleared';
  version: number;
}

/** A room of this process, as `refresh` writes it. */
export interface RoomEntries {
  chatNo: number;
  /** Members present from this process. */
  present: number[];
  /** Members whose arrival or departure Redis has not confirmed: what holds now is among the changes. */
  unconfirmed: ReadonlySet<number>;
}

/** Order of the codes by which the script names them. */
const KINDS = ['gone', 'present', 'cleared'] as const;

type SnapshotRow = [version: number, ...memberNos: number[]];
type ChangeRow = [position: number, memberNo: number, kind: number, version: number];

function snapshotOf([version, ...memberNos]: SnapshotRow): PresenceSnapshot {
  return { version, memberNos };
}

/** One room as an argument of the script: `3,+9,-4`. */
function argumentOf({ present, unconfirmed }: RoomEntries): string {
  const departed = [...unconfirmed].filter((memberNo) => !present.includes(memberNo));
  return [
    ...present.map((memberNo) => (unconfirmed.has(memberNo) ? `+${memberNo}` : memberNo)),
    ...departed.map((memberNo) => -memberNo),
  ].join(',');
}

/** Presence in Redis (presence.lua). Every method resolves to undefined while Redis is away. */
export class PresenceStore {
  readonly #redis: RedisConnection;
  readonly #script = loadScript('domain/chat/presence.lua');
  readonly #lifetime: number;

  /** @param lifetime how long an entry lasts that is not refreshed, ms */
  constructor(redis: RedisConnection, lifetime: number) {
    this.#redis = redis;
    this.#lifetime = lifetime;
  }

  /** @returns the version if the member was absent; whether an earlier entry of this process was cleared */
  async enter(chatNo: number, memberNo: number) {
    const answer = await this.#run<[number, number, number]>('enter', [chatNo], memberNo);
    if (!answer) return undefined;
    const [arrived, cleared, version] = answer;
    return { arrivedAt: arrived === 1 ? version : undefined, wasCleared: cleared === 1 };
  }

  /** @returns the version of the departure if no process has the member any more */
  async leave(chatNo: number, memberNo: number) {
    const answer = await this.#run<[number, number]>('leave', [chatNo], memberNo);
    return answer && { leftAt: answer[0] === 1 ? answer[1] : undefined };
  }

  /** @returns the version, whether the member was present, and whether other processes have to remove them */
  async clear(chatNo: number, memberNo: number) {
    const answer = await this.#run<[number, number, number]>('clear', [chatNo], memberNo);
    if (!answer) return undefined;
    const [wasPresent, others, version] = answer;
    return { wasPresent: wasPresent === 1, isElsewhere: others > 0, version };
  }

  async list(chatNo: number): Promise<PresenceSnapshot | undefined> {
    const answer = await this.#run<SnapshotRow>('list', [chatNo]);
    return answer && snapshotOf(answer);
  }

  /**
   * Renews this process's entries in rooms of one group (redisKeys.roomGroup).
   * @param removeExpired whether entries of other processes that have expired are removed
   * @returns what has changed, and who is present in each of the rooms
   */
  async refresh(rooms: RoomEntries[], removeExpired: boolean) {
    const chatNos = rooms.map(({ chatNo }) => chatNo);
    const answer = await this.#run<[ChangeRow[], SnapshotRow[]]>(
      'refresh',
      chatNos,
      removeExpired ? 1 : 0,
      ...rooms.map(argumentOf),
    );
    if (!answer) return undefined;
    const changes = answer[0].map(
      ([position, memberNo, kind, version]): PresenceChange => ({
        chatNo: chatNos[position - 1] as number,
        memberNo,
        kind: KINDS[kind] as PresenceChange['kind'],
        version,
      }),
    );
    return { changes, snapshots: answer[1].map(snapshotOf) };
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
