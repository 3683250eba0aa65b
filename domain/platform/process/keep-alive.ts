import type { ServerResponse } from 'node:http';

/**
 * How long clients may use an idle connection, ms, as announced (`Keep-Alive: timeout=5`). It is held for longer,
 * KEEP_ALIVE_MS: a client that is busy, or counts from another moment, never sends on one that is being closed.
 */
const ANNOUNCED_MS = 5_000;

/**
 * Has an answer announce this time. An undocumented field of Node's: as a header of ours it would also stand beside
 * `Connection: close`. (docs/decisions/patched-internals.md)
 */
export function announceKeepAlive(res: ServerResponse): void {
  Object.assign(res, { _keepAliveTimeout: ANNOUNCED_MS });
}
