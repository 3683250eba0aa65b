import type { Live } from '../kernel/live.js';

/** What presence needs of this process's sockets. */
export type OpenRooms = Pick<Live, 'isInRoom' | 'removeFromRoom' | 'presenceHere'>;

/**
 * Called when a member enters a room (`present`) or leaves it. Of two changes of one member in one room the
 * later has the higher version, whichever processes publish them.
 */
export type PresenceListener = (chatNo: number, memberNo: number, present: boolean, version: number) => void;

/**
 * Which members have a room open, from how many connections, on all processes together.
 *
 * Every implementation guarantees:
 * - A member is present from the first `enter` of any of their connections until the last of them has left;
 *   `enter` and `leave` of one connection are idempotent.
 * - Only connections that are in the room count: entering without being there does nothing, and a connection
 *   that goes without `leave`, or with its process, is removed within 30 s. (contract, section 5)
 * - While processes cannot reach each other, each continues with its own connections: nothing waits or
 *   rejects.
 */
export interface Presence {
  /** A connection that is in the room counts from now on. */
  enter(chatNo: number, memberNo: number, connection: string): Promise<void>;
  /** A connection has left the room, or is about to. */
  leave(chatNo: number, memberNo: number, connection: string): Promise<void>;
  /** Removes all connections of a member from a room, on every process. */
  clear(chatNo: number, memberNo: number): Promise<void>;
  isPresent(chatNo: number, memberNo: number): Promise<boolean>;
  /** Whether the member is present from a connection of this process. */
  isHere(chatNo: number, memberNo: number): boolean;
  /** Numbers of the members present, lowest first; while processes cannot reach each other, as last known. */
  list(chatNo: number): Promise<number[]>;
  /**
   * Every change is passed to listeners once, in the process that caused or discovered it; after processes
   * could not reach each other, perhaps again. A change that a process was not given by `accept` reaches its
   * connections within 10 s by `presenceHere`.
   */
  onChange(listener: PresenceListener): void;
  /**
   * A change published by any process, this one included, has arrived.
   * @returns whether to pass it to this process's connections: not if they know it, or a later one of the
   *   same member and room
   */
  accept(chatNo: number, memberNo: number, present: boolean, version: number): boolean;
  /** A room may have changed on another process: its connections here are sent what they do not know. */
  check(chatNo: number): void;
  /** Ends timers, and the presence of this process's connections. */
  close(): Promise<void>;
}
