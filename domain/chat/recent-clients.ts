/** How long a member is remembered after being seen authenticated from a client, ms. */
export const RECENT_MS = 30 * 60_000;

/** Most rooms opened from a client that are remembered per member; a list counts as one, however long. */
export const MAX_ROOMS = 100;

/** What an authenticated call has shown a member of their rooms. */
export interface Shown {
  /**
   * The highest number in the list of all the member's rooms. It stands for the whole list: numbers rise, so a room of
   * theirs with a lower one was in it, but for those past the end of a list that was cut at its most bytes. Rooms of
   * others below it do not matter: `find` is asked for a room's participants only.
   */
  upTo?: number;
  /** Rooms that were opened, or listed for one post; the latest last. */
  rooms?: number[];
}

/**
 * Which members were recently seen authenticated from which client, and which of their rooms they opened or
 * listed there: identifies the sender of the two documented chat calls that carry no Authorization header
 * (contract, section 4).
 *
 * Every implementation guarantees: a member and the rooms shown are remembered for RECENT_MS after the latest
 * touch, or up to a minute less where touches are throttled; of opened rooms, the latest MAX_ROOMS. A lost
 * touch only costs the legacy client a 401, so `touch` neither waits nor throws, and `find` does not reject.
 */
export interface RecentClients {
  /** @param client hash of the client (kernel/client.ts) */
  touch(client: string, memberNo: number, shown?: Shown): void;
  /** Those of the members who were seen from a client and shown the room there, last seen first. */
  find(client: string, chatNo: number, memberNos: number[]): Promise<number[]>;
  close(): void;
}
