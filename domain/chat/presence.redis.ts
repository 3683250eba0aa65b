import { redisChannels, redisKeys } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { SerialQueue } from '../platform/serial-queue.js';
import { joinNext } from '../platform/shared-runs.js';
import { DeliveredPresence } from './delivered-presence.js';
import type { OpenRooms, Presence, PresenceListener } from './presence.js';
import { LocalConnections } from './presence.memory.js';
import { CLEARED, GONE, type PresenceSnapshot, PresenceStore } from './presence-store.js';

/** All in ms. */
export interface PresenceTimes {
  /** How long a member stays present without a refresh by their process. */
  lifetime: number;
  /** Interval between refreshes: several in a lifetime, so that one lost changes nothing. */
  refreshEvery: number;
  /**
   * Time after an interruption in which no expired entry is removed: other processes may reconnect later than
   * this one, and their members are still present.
   */
  grace: number;
}

/** Members of a dead process are removed after lifetime + refreshEvery, within the 30 s of the contract. */
const DEFAULT_TIMES: PresenceTimes = { lifetime: 20_000, refreshEvery: 6_000, grace: 5_000 };

/** Most rooms in one script call: some tenths of a millisecond of Redis's only thread. */
const ROOMS_PER_CALL = 100;

/** Divides rooms into those of one script call: a group each, ROOMS_PER_CALL at most. */
function inCalls(rooms: Iterable<number>): number[][] {
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

/**
 * Presence across processes: one entry per member and process in a sorted set per room, which expires unless
 * its process refreshes it. This process's own connections are known without Redis, also while it is down.
 * Redis numbers changes by its clock, in µs.
 */
export class RedisPresence implements Presence {
  readonly #redis: RedisConnection;
  readonly #openRooms: OpenRooms;
  readonly #times: PresenceTimes;
  readonly #store: PresenceStore;
  readonly #local = new LocalConnections();
  readonly #delivered = new DeliveredPresence((chatNo) => this.#local.hasRoom(chatNo));
  readonly #listeners: PresenceListener[] = [];
  /** Members by room whose arrival or departure Redis has not confirmed, and when it was: the next refresh settles them. */
  readonly #unconfirmed = new Map<number, Map<number, number>>();
  readonly #calls = new SerialQueue();
  /** Rooms to be refreshed by the next task in the queue, however many messages ask for it. */
  #due = new Set<number>();
  readonly #refresh = joinNext<void, void>(() => this.#refreshAll());
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: (() => void)[];
  #graceTimer: NodeJS.Timeout | undefined;
  #refreshedAt = performance.now();
  #interruptedAt = performance.now();
  #closed = false;

  constructor(redis: RedisConnection, openRooms: OpenRooms, times: PresenceTimes = DEFAULT_TIMES) {
    this.#redis = redis;
    this.#openRooms = openRooms;
    this.#times = times;
    this.#store = new PresenceStore(redis, times.lifetime);
    this.#timer = setInterval(() => void this.#refresh(), times.refreshEvery);
    this.#timer.unref();
    this.#stopListening = [
      redis.on('up', this.#onBack),
      redis.listen('messageBuffer', (channel) => channel === redisChannels.presenceCleared, this.#onCleared),
    ];
    void redis.subscriber().subscribe(redisChannels.presenceCleared);
  }

  async enter(chatNo: number, memberNo: number, connection: string): Promise<void> {
    if (!this.#openRooms.isInRoom(chatNo, connection)) return;
    const { lastEntry } = this.#local;
    if (!this.#local.hasRoom(chatNo)) this.#delivered.forget(chatNo);
    const isFirst = this.#local.enter(chatNo, memberNo, connection);
    const at = performance.now();
    const answer = await this.#store.enter(chatNo, memberNo);
    if (!answer) {
      if (isFirst) this.#publishUnconfirmed(chatNo, memberNo, true, at);
      else this.#unconfirmed.get(chatNo)?.set(memberNo, at);
      return;
    }
    const [arrival, cleared] = answer;
    if (cleared === 1) this.#removeConnections(chatNo, memberNo, lastEntry);
    if (arrival > 0) this.#publish(chatNo, memberNo, true, arrival);
  }

  async leave(chatNo: number, memberNo: number, connection: string): Promise<void> {
    if (this.#local.leave(chatNo, memberNo, connection)) await this.#depart(chatNo, memberNo);
  }

  async clear(chatNo: number, memberNo: number): Promise<void> {
    const wasHere = this.#removeConnections(chatNo, memberNo);
    const answer = await this.#store.clear(chatNo, memberNo);
    if (!answer) {
      if (wasHere) this.#publishUnconfirmed(chatNo, memberNo, false);
      return;
    }
    const [wasPresent, others, version] = answer;
    if (others > 0) void this.#redis.publish(redisChannels.presenceCleared, String(chatNo));
    if (wasHere || wasPresent === 1) this.#publish(chatNo, memberNo, false, version);
  }

  async isPresent(chatNo: number, memberNo: number): Promise<boolean> {
    if (this.isHere(chatNo, memberNo)) return true;
    const snapshot = await this.#store.list(chatNo);
    return snapshot?.slice(1).includes(memberNo) ?? false;
  }

  isHere(chatNo: number, memberNo: number): boolean {
    return this.#local.has(chatNo, memberNo);
  }

  async list(chatNo: number): Promise<number[]> {
    const snapshot = await this.#store.list(chatNo);
    if (this.#local.hasRoom(chatNo)) {
      if (snapshot && (this.#mayRemove() || !this.#delivered.isListed(chatNo))) {
        this.#reconcile(chatNo, snapshot);
      }
      this.#delivered.markListed(chatNo);
    }
    // Without Redis a new connection is sent what the others here know, and receives the same changes.
    const memberNos = snapshot?.slice(1) ?? this.#delivered.members(chatNo);
    return [...new Set([...memberNos, ...this.#local.members(chatNo)])].sort((a, b) => a - b);
  }

  onChange(listener: PresenceListener): void {
    this.#listeners.push(listener);
  }

  accept(chatNo: number, memberNo: number, present: boolean, version: number): boolean {
    return this.#delivered.accept(chatNo, memberNo, present, version);
  }

  check(chatNo: number): void {
    if (!this.#local.hasRoom(chatNo)) return;
    if (this.#due.size === 0) void this.#calls.add(() => this.#refreshDue());
    this.#due.add(chatNo);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#graceTimer);
    for (const stop of this.#stopListening) stop();
    void this.#redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    for (const chatNo of this.#local.rooms()) {
      for (const memberNo of this.#local.members(chatNo)) {
        this.#local.clear(chatNo, memberNo);
        this.#markUnconfirmed(chatNo, memberNo);
      }
    }
    await this.#refresh();
  }

  readonly #onBack = (): void => {
    this.#interruptedAt = performance.now();
    void this.#refresh();
    // Once more after the other processes have reconnected: their changes may not have arrived.
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => void this.#refresh(), this.#times.grace + 1).unref();
  };

  readonly #onCleared = (_channel: string, text: string): void => {
    const chatNo = Number(text);
    if (!Number.isSafeInteger(chatNo)) throw new Error('presence-cleared: not a room number');
    // Redis decides who was cleared: the member may have entered again since.
    this.check(chatNo);
  };

  #publish(chatNo: number, memberNo: number, present: boolean, version: number): void {
    this.#delivered.noteVersion(version);
    for (const listener of this.#listeners) listener(chatNo, memberNo, present, version);
  }

  /** Publishes this process's view for lack of an answer; a later refresh publishes Redis's. */
  #publishUnconfirmed(chatNo: number, memberNo: number, present: boolean, at = performance.now()): void {
    this.#markUnconfirmed(chatNo, memberNo, at);
    // A later change may have been published meanwhile.
    if (this.isHere(chatNo, memberNo) !== present) return;
    this.#publish(chatNo, memberNo, present, this.#delivered.nextVersion());
  }

  #markUnconfirmed(chatNo: number, memberNo: number, at = performance.now()): void {
    const members = this.#unconfirmed.get(chatNo) ?? new Map<number, number>();
    this.#unconfirmed.set(chatNo, members.set(memberNo, at));
  }

  /** Those of a call without an answer; the ones marked during it entered, or left, later. */
  #keepUnconfirmed(chatNo: number, unconfirmed: ReadonlyMap<number, number>): void {
    if (unconfirmed.size === 0) return;
    const later = this.#unconfirmed.get(chatNo) ?? [];
    this.#unconfirmed.set(chatNo, new Map([...unconfirmed, ...later]));
  }

  /** The member's last connection here has left a room. */
  async #depart(chatNo: number, memberNo: number): Promise<void> {
    const departure = await this.#store.leave(chatNo, memberNo);
    if (departure === undefined) this.#publishUnconfirmed(chatNo, memberNo, false);
    else if (departure > 0) this.#publish(chatNo, memberNo, false, departure);
  }

  /** Removes the member's connections up to an entry from a room. @returns whether there was one */
  #removeConnections(chatNo: number, memberNo: number, upTo?: number): boolean {
    const connections = this.#local.clear(chatNo, memberNo, upTo);
    for (const connection of connections) this.#openRooms.removeFromRoom(chatNo, connection);
    return connections.length > 0;
  }

  #mayRemove(): boolean {
    return performance.now() - this.#interruptedAt >= this.#times.grace;
  }

  /** Sends the connections here the changes in a room that they missed. */
  #reconcile(chatNo: number, [version, ...memberNos]: PresenceSnapshot): void {
    const present = new Set([...memberNos, ...this.#local.members(chatNo)]);
    for (const [memberNo, isPresent] of this.#delivered.reconcile(chatNo, present, version)) {
      this.#openRooms.presenceHere(chatNo, memberNo, isPresent);
    }
  }

  async #refreshAll(): Promise<void> {
    for (const [chatNo, memberNo] of this.#local.prune(this.#openRooms.isInRoom)) {
      void this.#depart(chatNo, memberNo);
    }
    // This process was frozen until its entries expired: others may have been frozen, too.
    if (performance.now() - this.#refreshedAt > this.#times.lifetime) this.#interruptedAt = performance.now();
    this.#refreshedAt = performance.now();
    const all = new Set([...this.#local.rooms(), ...this.#unconfirmed.keys()]);
    for (const chatNos of inCalls(all)) if (!(await this.#refreshRooms(chatNos))) return;
  }

  /** Refreshes the rooms that messages asked for. In the queue of calls. */
  async #refreshDue(): Promise<void> {
    const due = this.#due;
    this.#due = new Set();
    for (const chatNos of inCalls(due)) if (!(await this.#callRefresh(chatNos))) return;
  }

  /**
   * Refreshes rooms of one group, one call at a time: a second call for a room would renew an entry that the
   * first one has just learned was cleared. @returns whether Redis answered
   */
  #refreshRooms(chatNos: number[]): Promise<boolean> {
    return this.#calls.add(() => this.#callRefresh(chatNos));
  }

  async #callRefresh(chatNos: number[]): Promise<boolean> {
    const { lastEntry } = this.#local;
    const rooms = chatNos.map((chatNo) => ({
      chatNo,
      present: this.#local.members(chatNo),
      unconfirmed: this.#unconfirmed.get(chatNo) ?? new Map<number, number>(),
      version: this.#delivered.versionOf(chatNo),
    }));
    // Members marked during the call are left to the next refresh.
    for (const chatNo of chatNos) this.#unconfirmed.delete(chatNo);
    const mayRemove = this.#mayRemove();
    const answer = await this.#store.refresh(rooms, mayRemove);
    if (!answer) {
      for (const { chatNo, unconfirmed } of rooms) this.#keepUnconfirmed(chatNo, unconfirmed);
      return false;
    }
    const [changes, snapshots] = answer;
    for (const [position, memberNo, kind, version] of changes) {
      const chatNo = chatNos[position - 1] as number;
      if (kind === CLEARED) this.#removeConnections(chatNo, memberNo, lastEntry);
      else this.#publish(chatNo, memberNo, kind !== GONE, version);
    }
    for (const [i, chatNo] of chatNos.entries()) {
      if (mayRemove && this.#delivered.isListed(chatNo)) {
        this.#reconcile(chatNo, snapshots[i] as PresenceSnapshot);
      }
    }
    return true;
  }
}
