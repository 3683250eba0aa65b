import type { Live } from '../kernel/live.js';

/** What presence knows of this process's connections: whether one is in a room, how to take it out, how to tell them. */
export type OpenRooms = Pick<Live, 'isInRoom' | 'takeOut' | 'presenceHere'>;

/**
 * Told of every member who has come to a room (`present`) or is gone from it. Of two changes of one
 * member in one room, the later one has the higher version, whichever processes tell them.
 */
export type PresenceListener = (chatNo: number, memberNo: number, present: boolean, version: number) => void;

/**
 * Who has which room open right now, from how many connections, on all processes together.
 *
 * What an implementer owes:
 * - A member is present from the first `enter` of any of their connections until the last of them has
 *   left; `enter` and `leave` of one connection are idempotent.
 * - Only connections that are in the room count: one that is not enters nobody, and one that is gone
 *   without a `leave` is found out. This, and the connections of a process that died or froze, within
 *   30 s. (contract, section 5)
 * - Where processes cannot hear of each other, each goes on with what it knows itself: nothing waits,
 *   nothing rejects.
 */
export interface Presence {
  /** A connection that is in the room counts from now on. */
  enter(chatNo: number, memberNo: number, connection: string): Promise<void>;
  /** A connection has left the room, or is about to. */
  leave(chatNo: number, memberNo: number, connection: string): Promise<void>;
  /** Takes all connections of a member out of a room, on every process. */
  clear(chatNo: number, memberNo: number): Promise<void>;
  isPresent(chatNo: number, memberNo: number): Promise<boolean>;
  /** Whether it is from a connection of this process that the member is present; known at once. */
  isHere(chatNo: number, memberNo: number): boolean;
  /** Numbers of the members present, lowest first; while processes do not hear of each other, those last heard of. */
  list(chatNo: number): Promise<number[]>;
  /**
   * Tells every change once, in the process that caused or discovered it. After a time in which
   * processes did not hear of each other, a change may be told again. What `heard` has not taken in although
   * it happened is told to the connections of this process alone (`presenceHere`), within 10 s.
   */
  watch(listener: PresenceListener): void;
  /**
   * A change has arrived from some process, this one included.
   * @returns whether connections of this process are to be told: not of a change that they know, or that a
   *   later one of the same member and room has overtaken
   */
  heard(chatNo: number, memberNo: number, present: boolean, version: number): boolean;
  /** Ends timers, and the presence of this process's connections. */
  close(): Promise<void>;
}
