import type { OpenRooms, Presence, PresenceListener } from './presence.js';

/** How often connections that are no longer in their rooms are removed, ms. */
const PRUNE_EVERY_MS = 6_000;

/** Least time between two entries, ms: which of them was first must be known. */
const SHORTEST_MS = 0.001;

/** A connection that has entered a room, and when. */
interface Entered {
  connection: string;
  at: number;
}

/** Of a member in a room. Nearly always there is one, and a map for each would take 200 bytes. */
type Connections = Entered | Map<string, number>;

/** Each connection, and when it entered. */
function entriesOf(connections: Connections): [connection: string, at: number][] {
  return connections instanceof Map ? [...connections] : [[connections.connection, connections.at]];
}

function connectionsOf(connections: Connections): Iterable<string> {
  return connections instanceof Map ? connections.keys() : [connections.connection];
}

/** @returns the connections with one more, or a later entry of one */
function withEntry(known: Connections | undefined, entered: Entered): Connections {
  const { connection, at } = entered;
  if (!known || (!(known instanceof Map) && known.connection === connection)) return entered;
  return (known instanceof Map ? known : new Map(entriesOf(known))).set(connection, at);
}

/** This process's connections by room and member. */
export class LocalConnections {
  readonly #rooms = new Map<number, Map<number, Connections>>();
  #lastEntry = 0;

  /** When the latest `enter` was (performance.now()); no two are at the same time. */
  get lastEntry(): number {
    return this.#lastEntry;
  }

  /** @returns whether it is the member's first connection here */
  enter(chatNo: number, memberNo: number, connection: string): boolean {
    this.#lastEntry = Math.max(this.#lastEntry + SHORTEST_MS, performance.now());
    const members = this.#rooms.get(chatNo) ?? new Map<number, Connections>();
    this.#rooms.set(chatNo, members);
    const known = members.get(memberNo);
    members.set(memberNo, withEntry(known, { connection, at: this.#lastEntry }));
    return !known;
  }

  /** @returns whether it was the member's last connection here */
  leave(chatNo: number, memberNo: number, connection: string): boolean {
    const members = this.#rooms.get(chatNo);
    const known = members?.get(memberNo);
    if (!members || !known) return false;
    if (known instanceof Map) {
      if (!known.delete(connection) || known.size > 0) return false;
    } else if (known.connection !== connection) return false;
    members.delete(memberNo);
    if (members.size === 0) this.#rooms.delete(chatNo);
    return true;
  }

  /** Removes the member's connections that had entered by then (performance.now()). @returns them */
  clear(chatNo: number, memberNo: number, upTo = this.#lastEntry): string[] {
    const known = this.#rooms.get(chatNo)?.get(memberNo);
    const entries = known ? entriesOf(known) : [];
    const cleared = entries.filter(([, at]) => at <= upTo).map(([connection]) => connection);
    for (const connection of cleared) this.leave(chatNo, memberNo, connection);
    return cleared;
  }

  has(chatNo: number, memberNo: number): boolean {
    return this.#rooms.get(chatNo)?.has(memberNo) ?? false;
  }

  members(chatNo: number): number[] {
    return [...(this.#rooms.get(chatNo)?.keys() ?? [])];
  }

  /** Members, and when the latest of their connections entered (performance.now()). */
  latestOf(chatNo: number): [memberNo: number, at: number][] {
    const latest: [number, number][] = [];
    for (const [memberNo, connections] of this.#rooms.get(chatNo) ?? []) {
      latest.push([
        memberNo,
        connections instanceof Map ? Math.max(...connections.values()) : connections.at,
      ]);
    }
    return latest;
  }

  hasRoom(chatNo: number): boolean {
    return this.#rooms.has(chatNo);
  }

  rooms(): number[] {
    return [...this.#rooms.keys()];
  }

  /** Removes connections that are no longer in their rooms. @returns the members whose last one that was */
  prune(isInRoom: (chatNo: number, connection: string) => boolean): [chatNo: number, memberNo: number][] {
    const gone: [number, number][] = [];
    for (const [chatNo, members] of this.#rooms) {
      for (const [memberNo, connections] of members) {
        for (const connection of connectionsOf(connections)) {
          const hasGone = !isInRoom(chatNo, connection) && this.leave(chatNo, memberNo, connection);
          if (hasGone) gone.push([chatNo, memberNo]);
        }
      }
    }
    return gone;
  }
}

/** Presence within one process: when it ends, so do all its connections. */
export class MemoryPresence implements Presence {
  readonly #openRooms: OpenRooms;
  readonly #local = new LocalConnections();
  readonly #listeners: PresenceListener[] = [];
  readonly #timer: NodeJS.Timeout;
  #version = 0;

  constructor(openRooms: OpenRooms, pruneEvery = PRUNE_EVERY_MS) {
    this.#openRooms = openRooms;
    this.#timer = setInterval(() => {
      for (const gone of this.#local.prune(openRooms.isInRoom)) this.#publish(...gone, false);
    }, pruneEvery);
    this.#timer.unref();
  }

  async enter(chatNo: number, memberNo: number, connection: string): Promise<void> {
    if (!this.#openRooms.isInRoom(chatNo, connection)) return;
    if (this.#local.enter(chatNo, memberNo, connection)) this.#publish(chatNo, memberNo, true);
  }

  async leave(chatNo: number, memberNo: number, connection: string): Promise<void> {
    if (this.#local.leave(chatNo, memberNo, connection)) this.#publish(chatNo, memberNo, false);
  }

  async clear(chatNo: number, memberNo: number): Promise<void> {
    const cleared = this.#local.clear(chatNo, memberNo);
    for (const connection of cleared) this.#openRooms.removeFromRoom(chatNo, connection);
    if (cleared.length > 0) this.#publish(chatNo, memberNo, false);
  }

  async isPresent(chatNo: number, memberNo: number): Promise<boolean> {
    return this.isHere(chatNo, memberNo);
  }

  isHere(chatNo: number, memberNo: number): boolean {
    return this.#local.has(chatNo, memberNo);
  }

  async list(chatNo: number): Promise<number[]> {
    return this.#local.members(chatNo).sort((a, b) => a - b);
  }

  onChange(listener: PresenceListener): void {
    this.#listeners.push(listener);
  }

  /** Within one process all changes arrive, in order. */
  accept(): boolean {
    return true;
  }

  check(): void {}

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  #publish(chatNo: number, memberNo: number, present: boolean): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener(chatNo, memberNo, present, this.#version);
  }
}
