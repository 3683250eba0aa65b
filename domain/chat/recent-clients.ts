import { hash } from 'node:crypto';
import type { Client } from '../kernel/client.js';

/** How long a member is remembered after being seen authenticated from a client, ms. */
export const RECENT_MS = 30 * 60_000;

/** Most members remembered per client: as many as an office behind one address may have. */
export const MAX_MEMBERS = 200;

/**
 * Which members were recently seen authenticated from which client (address and User-Agent): identifies the
 * sender of the two documented chat calls that carry no Authorization header (contract, section 4).
 *
 * Every implementation guarantees: a member is remembered for RECENT_MS after the latest touch, or up to a
 * minute less where touches are throttled; a client keeps its latest MAX_MEMBERS members. A lost touch only
 * costs the legacy client a 401, so `touch` neither waits nor throws, and `find` does not reject.
 */
export interface RecentClients {
  touch(client: Client, memberNo: number): void;
  /** The members seen from a client, last seen first. */
  find(client: Client): Promise<number[]>;
  close(): void;
}

/** The same for all calls of one client. Hashed, so that Redis holds no addresses. */
export function clientHash({ address, userAgent }: Client): string {
  return hash('sha256', `${address}\n${userAgent}`, 'base64url').slice(0, 27);
}
