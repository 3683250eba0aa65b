import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes of one id, and of how many ids are made at once: the call is dear, not the bytes. */
const BYTES = 16;
const pool = new Uint8Array(BYTES * 256);
let used = pool.length;

/** Random bytes that nobody has had. They are good until the next call of this function. */
function freshBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return pool.subarray(used - BYTES, used);
}

/**
 * A new message id: a UUIDv7 (RFC 9562), so time-ordered and, with 74 random bits, unguessable.
 * Unguessable matters: holding a message id is the proof of having received it (contract, section 4).
 */
export function newMessageId(): string {
  return v7({ random: freshBytes() });
}
