import type { Client } from '../../kernel/client.js';

/** How long, in ms, a client stays bound to a member who was seen authenticated from it. */
export const BOUND_FOR_MS = 30 * 60_000;

/**
 * Which members were lately seen authenticated from which client (address and User-Agent): how the
 * two documented chat calls without an Authorization header know their sender (contract, section 4).
 *
 * What an implementer owes: a binding lasts BOUND_FOR_MS from its latest touch; a touch that is lost
 * costs the legacy client a 401, nothing more, so `touch` neither waits nor throws.
 */
export interface Bindings {
  touch(client: Client, memberNo: number): void;
  /** The members bound to a client, the latest seen first. */
  find(client: Client): Promise<number[]>;
}

/** What makes two calls come from the same client. */
export function clientKey({ address, userAgent }: Client): string {
  return `${address}\n${userAgent}`;
}
