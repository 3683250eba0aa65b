// biome-ignore-all lint/style/noExcessiveLinesPerFile: one class and its steps, which nothing else calls.
import { redisChannels } from '../kernel/redis-keys.js';
import { chatRoom } from '../kernel/socket-rooms.js';
import { SerialQueue } from '../platform/async/serial-queue.js';
import { joinNext } from '../platform/async/shared-runs.js';
import { lostPushes } from '../platform/observe/lost-pushes.js';
import { metrics } from '../platform/observe/metrics.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { DeliveredPresence } from './delivered-presence.js';
import type { OpenRooms, Presence, PresenceListener } from './presence.js';
import { LocalConnections } from './presence.memory.js';
import { PresenceInterruptions } from './presence-interruptions.js';
import {
  CLEARED,
  CLEARED_LATE,
  GONE,
  inCalls,
  PRESENT,
  type PresenceSnapshot,
  PresenceStore,
} from './presence-store.js';
import { DEFAULT_TIMES, type PresenceTimes } from './presence-times.js';
import { type Uncleared, UnclearedMembers } from './uncleared-members.js';
import { UnconfirmedMembers } from './unconfirmed-members.js';

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
  readonly #unconfirmed = new UnconfirmedMembers();
  /** Removals that Redis has not confirmed: repeated after each refresh. */
  readonly #uncleared: UnclearedMembers;
  /** Removals that other processes may not have heard of. The oldest first. */
  readonly #cleared: Uncleared[] = [];
  readonly #calls = new SerialQueue();
  /** Rooms to be refreshed by the next task in the queue, however many messages ask for it. */
  #due = new Set<number>();
  readonly #refresh = joinNext<void, void>(() => this.#refreshAll());
  readonly #timer: NodeJS.Timeout;
  readonly #interruptions: PresenceInterruptions;
  readonly #stopListening: () => void;
  #refreshedAt = performance.now();
  /** When the last complete refresh of all rooms began in which expired entries were removed. */
  #reconciledAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(redis: RedisConnection, openRooms: OpenRooms, times: PresenceTimes = DEFAULT_TIMES) {
    this.#redis = redis;
    this.#openRooms = openRooms;
    this.#times = times;
    const repeatCleared = () => {
      for (const cleared of this.#cleared) this.#uncleared.add(cleared);
    };
    this.#interruptions = new PresenceInterruptions(redis, times, () => this.#refresh(), repeatCleared);
    this.#store = new PresenceStore(redis, times.lifetime, () => this.#interruptions.tellLoss());
    this.#uncleared = new UnclearedMembers({
      clear: (uncleared) => this.#clearLate(uncleared),
      isDown: () => redis.down || redis.refusal !== undefined,
      keepFor: this.#store.clearedFor,
    });
    this.#timer = setInterval(() => void this.#refresh(), times.refreshEvery);
    this.#timer.unref();
    const isCleared = (channel: string) => channel === redisChannels.presenceCleared;
    this.#stopListening = redis.listen('messageBuffer', isCleared, this.#onCleared);
    void redis.subscriber().subscribe(redisChannels.presenceCleared);
  }

  async enter(chatNo: number, memberNo: number, connection: string): Promise<void> {
    if (!this.#openRooms.isInRoom(chatNo, connection)) return;
    const { lastEntry } = this.#local;
    if (!this.#local.hasRoom(chatNo)) this.#delivered.forget(chatNo);
    const isFirst = this.#local.enter(chatNo, memberNo, connection);
    const answer = await this.#store.enter(chatNo, memberNo);
    if (!answer) {
      if (isFirst) this.#publishUnconfirmed(chatNo, memberNo, true);
      else this.#unconfirmed.mark(chatNo, memberNo);
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
    const at = performance.now();
    const wasHere = this.#removeConnections(chatNo, memberNo);
    const answer = await this.#store.clear(chatNo, memberNo);
    if (!answer) {
      this.#uncleared.add({ chatNo, memberNo, at });
      if (wasHere) this.#publishUnconfirmed(chatNo, memberNo, false);
      return;
    }
    const [gone, others, version] = answer;
    if (others > 0) {
      this.#noteCleared({ chatNo, memberNo, at });
      this.#tellCleared(chatNo);
    }
    if (wasHere || gone === 1) this.#publish(chatNo, memberNo, false, version);
  }

  async isPresent(chatNo: number, memberNo: number): Promise<boolean> {
    if (this.isHere(chatNo, memberNo)) return true;
    const snapshot = await this.#snapshot(chatNo);
    return snapshot?.slice(1).includes(memberNo) ?? false;
  }

  isHere(chatNo: number, memberNo: number): boolean {
    return this.#local.has(chatNo, memberNo);
  }

  async list(chatNo: number): Promise<number[]> {
    const snapshot = await this.#snapshot(chatNo);
    if (this.#local.hasRoom(chatNo)) {
      if (snapshot && (this.#interruptions.isOver || !this.#delivered.isListed(chatNo))) {
        this.#reconcile(chatNo, snapshot);
      }
      this.#delivered.markListed(chatNo);
    }
    // Without Redis a new connection is sent what the others here know, and receives the same changes.
    const memberNos = snapshot?.slice(1) ?? this.#delivered.members(chatNo);
    const here = snapshot ? this.#staying(chatNo) : this.#local.members(chatNo);
    return [...new Set([...memberNos, ...here])].sort((a, b) => a - b);
  }

  onChange(listener: PresenceListener): void {
    this.#listeners.push(listener);
  }

  accept(chatNo: number, memberNo: number, present: boolean, version: number): boolean {
    lostPushes.came('presence', chatRoom(chatNo), memberNo);
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
    this.#interruptions.close();
    this.#stopListening();
    void this.#redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    for (const chatNo of this.#local.rooms()) {
      for (const memberNo of this.#local.members(chatNo)) {
        this.#local.clear(chatNo, memberNo);
        this.#unconfirmed.mark(chatNo, memberNo);
      }
    }
    await this.#refresh();
  }

  /**
   * Who is present; if Redis has just lost it, once all processes have written it again, or of a room that it has evicted alone, as
   * last known here.
   */
  async #snapshot(chatNo: number): Promise<PresenceSnapshot | undefined> {
    const isWritten = this.#local.hasRoom(chatNo) && !this.#unconfirmed.has(chatNo);
    const first = await this.#store.list(chatNo);
    const snapshot = (await this.#interruptions.restored()) ? await this.#store.list(chatNo) : first;
    const isEvicted = snapshot?.[0] === 0 && isWritten && this.#local.hasRoom(chatNo);
    if (!isEvicted) return snapshot;
    this.#interruptions.noteEviction();
    return [0, ...this.#delivered.members(chatNo)];
  }

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
  #publishUnconfirmed(chatNo: number, memberNo: number, present: boolean): void {
    this.#unconfirmed.mark(chatNo, memberNo);
    // A later change may have been published meanwhile.
    if (this.isHere(chatNo, memberNo) !== present) return;
    this.#publish(chatNo, memberNo, present, this.#delivered.nextVersion());
  }

  /** Keeps a removal until every process has refreshed its rooms: if Redis loses it before, it is repeated. */
  #noteCleared(cleared: Uncleared): void {
    const heardAt = performance.now() - 2 * this.#times.refreshEvery;
    while ((this.#cleared[0]?.at ?? heardAt) < heardAt) this.#cleared.shift();
    this.#cleared.push(cleared);
  }

  /** Has other processes look who was removed. */
  #tellCleared(chatNo: number): void {
    void this.#redis.publish(redisChannels.presenceCleared, String(chatNo));
  }

  /**
   * Repeats a removal. Other processes keep what has entered since, and publish departures; of a member who is nowhere
   * nobody else would. @returns whether Redis answered
   */
  async #clearLate({ chatNo, memberNo, at }: Uncleared): Promise<boolean> {
    const age = Math.ceil(performance.now() - at + this.#times.latency);
    const answer = await this.#store.clear(chatNo, memberNo, age);
    if (!answer) return false;
    const [gone, others, version] = answer;
    if (others > 0) this.#tellCleared(chatNo);
    if (gone === 1) this.#publish(chatNo, memberNo, false, version);
    return true;
  }

  /** The member's last connection here has left a room. */
  async #depart(chatNo: number, memberNo: number): Promise<void> {
    const departure = await this.#store.leave(chatNo, memberNo);
    if (departure === undefined) this.#publishUnconfirmed(chatNo, memberNo, false);
    else if (departure > 0) this.#publish(chatNo, memberNo, false, departure);
  }

  /** Removes the member's connections that had entered a room by then (performance.now()). @returns whether there was one */
  #removeConnections(chatNo: number, memberNo: number, upTo?: number): boolean {
    const connections = this.#local.clear(chatNo, memberNo, upTo);
    for (const connection of connections) this.#openRooms.removeFromRoom(chatNo, connection);
    return connections.length > 0;
  }

  /** Members with a connection here, without those whom another process has removed: this one is about to end their connections. */
  #staying(chatNo: number): number[] {
    return this.#local.members(chatNo).filter((memberNo) => !this.#delivered.isGone(chatNo, memberNo));
  }

  /** Sends the connections here the changes in a room that they missed. */
  #reconcile(chatNo: number, [version, ...memberNos]: PresenceSnapshot): void {
    const isSettled = this.#local.members(chatNo).every((memberNo) => memberNos.includes(memberNo));
    const present = new Set([...memberNos, ...this.#staying(chatNo)]);
    for (const [memberNo, isPresent] of this.#delivered.reconcile(chatNo, present, version, isSettled)) {
      this.#openRooms.presenceHere(chatNo, memberNo, isPresent);
      lostPushes.mended('presence', chatRoom(chatNo), memberNo);
    }
  }

  async #refreshAll(): Promise<void> {
    for (const [chatNo, memberNo] of this.#local.prune(this.#openRooms.isInRoom)) {
      void this.#depart(chatNo, memberNo);
    }
    // This process was frozen until its entries expired: others may have been frozen, too.
    if (performance.now() - this.#refreshedAt > this.#times.lifetime) this.#interruptions.note();
    this.#refreshedAt = performance.now();
    const startedAt = this.#interruptions.isOver ? performance.now() : this.#reconciledAt;
    const all = new Set([...this.#local.rooms(), ...this.#unconfirmed.rooms()]);
    for (const chatNos of inCalls(all)) if (!(await this.#refreshRooms(chatNos))) return;
    this.#reconciledAt = startedAt;
    // Without waiting for it: entries have to be renewed meanwhile.
    void this.#uncleared.clear();
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
    // Redis may have lost changes in an interruption, and given their versions to others.
    const isReconciled = this.#reconciledAt > this.#interruptions.at;
    const rooms = chatNos.map((chatNo) => {
      const { version, isComplete } = this.#delivered.knownOf(chatNo);
      return {
        ...{ chatNo, version, isComplete: isReconciled && isComplete },
        present: this.#local.latestOf(chatNo),
        // Members marked during the call are left to the next refresh.
        unconfirmed: this.#unconfirmed.take(chatNo),
      };
    });
    const mayRemove = this.#interruptions.isOver;
    const sentAt = performance.now();
    const answer = await this.#store.refresh(rooms, mayRemove);
    if (!answer) {
      for (const { chatNo, unconfirmed } of rooms) this.#unconfirmed.mark(chatNo, ...unconfirmed);
      return false;
    }
    const [changes, snapshots] = answer;
    for (const [position, ...change] of changes) {
      this.#apply(chatNos[position - 1] as number, change, { lastEntry, sentAt });
      const { present, unconfirmed } = rooms[position - 1] as (typeof rooms)[0];
      const [memberNo, kind] = change;
      const isOurs = unconfirmed.has(memberNo) || present.some(([no]) => no === memberNo);
      if (kind === GONE && !isOurs) metrics.presenceExpired.inc();
    }
    // Not if the answer has shown that Redis has lost its data.
    for (const [position, ...snapshot] of mayRemove && this.#interruptions.isOver ? snapshots : []) {
      const chatNo = chatNos[position - 1] as number;
      if (this.#delivered.isListed(chatNo)) this.#reconcile(chatNo, snapshot);
    }
    return true;
  }

  /**
   * Applies what a refresh has found.
   * @param before when the last connection had entered before it, and when it was sent
   */
  #apply(
    chatNo: number,
    [memberNo, kind, versionOrAge]: [memberNo: number, kind: number, versionOrAge: number],
    before: { lastEntry: number; sentAt: number },
  ): void {
    if (kind === CLEARED) this.#removeConnections(chatNo, memberNo, before.lastEntry);
    else if (kind === CLEARED_LATE) {
      const removed = this.#removeConnections(chatNo, memberNo, before.sentAt - versionOrAge);
      // Later ones have left meanwhile.
      if (removed && !this.isHere(chatNo, memberNo)) void this.#depart(chatNo, memberNo);
    } else this.#publish(chatNo, memberNo, kind === PRESENT, versionOrAge);
  }
}
