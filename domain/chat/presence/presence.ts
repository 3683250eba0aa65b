/**
 * Who has which room open right now, from how many connections.
 *
 * What an implementer owes: a member is present from the first `enter` of any of their connections
 * until the last of them has left; `enter` and `leave` of one connection are idempotent; connections
 * of a process that died are forgotten within 30 s (contract, section 5).
 */
export interface Presence {
  /** @returns whether the member was not present before */
  enter(chatNo: number, memberNo: number, connection: string): Promise<boolean>;
  /** @returns whether the member was present and this was the last connection */
  leave(chatNo: number, memberNo: number, connection: string): Promise<boolean>;
  /** Forgets all connections of a member in a room. @returns whether there was one */
  clear(chatNo: number, memberNo: number): Promise<boolean>;
  isPresent(chatNo: number, memberNo: number): Promise<boolean>;
  /** Numbers of the members present, lowest first. */
  list(chatNo: number): Promise<number[]>;
}
