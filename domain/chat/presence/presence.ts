/** Told of a member who came to a room or is gone from it without a call of this process having caused it. */
export type PresenceListener = (chatNo: number, memberNo: number, present: boolean) => void;

/**
 * Who has which room open right now, from how many connections, on all processes together.
 *
 * What an implementer owes: a member is present from the first `enter` of any of their connections
 * until the last of them has left; `enter` and `leave` of one connection are idempotent; connections
 * of a process that died or froze are forgotten within 30 s (contract, section 5). Where processes
 * cannot hear of each other, each goes on with what it knows itself: nothing waits, nothing rejects.
 */
export interface Presence {
  /** @returns whether the member was not present before */
  enter(chatNo: number, memberNo: number, connection: string): Promise<boolean>;
  /** @returns whether the member was present and this was the last connection */
  leave(chatNo: number, memberNo: number, connection: string): Promise<boolean>;
  /** Forgets all connections of a member in a room, on every process. @returns whether there was one */
  clear(chatNo: number, memberNo: number): Promise<boolean>;
  isPresent(chatNo: number, memberNo: number): Promise<boolean>;
  /** Whether it is from a connection of this process that the member is present; known at once. */
  isHere(chatNo: number, memberNo: number): boolean;
  /** Numbers of the members present, lowest first. */
  list(chatNo: number): Promise<number[]>;
  /**
   * Changes that no caller learns from an answer: members of a process that died, and members who are
   * back after a time in which processes did not hear of each other. Exactly one process is told of a
   * member who is gone.
   */
  watch(listener: PresenceListener): void;
  /** Ends timers, and the presence of this process's connections. */
  close(): Promise<void>;
}
