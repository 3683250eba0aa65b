import { v7 } from 'uuid';

/**
 * A new message id: a UUIDv7 (RFC 9562), so time-ordered and, with 74 random bits, unguessable.
 * Unguessable matters: holding a message id is the proof of having received it (contract, section 4).
 */
export function newMessageId(): string {
  return v7();
}
