import { hash } from 'node:crypto';
import type { Client } from '../kernel/client.js';

/** How long, in ms, a client stays bound to a member who was seen authenticated from it. */
export const RECENT_MS = 30 * 60_000;

/** Most members remembered of one client: an office behind one address, not an army. */
export const MAX_MEMBERS = 200;

/**
 * Which members were lately seen authenticated from which client (address and User-Agent): how the
 * two documented chat calls without an Authorization header know their sender (contract, section 4).
 *
 * What an implementer owes: a binding lasts BOUND_FOR_MS from its latest touch, or up to a minute less
 * where touches are not all passed on; a client keeps its latest MAX_BOUND members. A touch that is lost
 * costs the legacy client a 401, nothing more, so `touch` neither waits nor throws, and `find` does not
 * reject.
 */
export interface RecentClients {
  touch(client: Client, memberNo: number): void;
  /** The members bound to a client, the latest seen first. */
  find(client: Client): Promise<number[]>;
  /** Ends what it listens to. */
  close(): void;
}

/** What makes two calls come from the same client. Hashed: nobody's address lies about in Redis. */
export function clientKey({ address, userAgent }: Client): string {
  return hash('sha256', `${address}\n${userAgent}`, 'base64url').slice(0, 27);
}
