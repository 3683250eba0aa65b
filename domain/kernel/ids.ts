import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are drawn for 256 ids at a time: the system call dominates. */
const BYTES = 16;
const pool = new Uint8Array(BYTES * 256);
let used = pool.length;

/** Unused random bytes, valid until the next call. */
function freshBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return pool.subarray(used - BYTES, used);
}

/**
 * A new message id, a UUIDv7 (RFC 9562): time-ordered and, with 74 random bits, unguessable, as knowing an
 * id proves having received the message (contract, section 4).
 */
export function newMessageId(): string {
  return v7({ random: freshBytes() });
}
