import { closeSync, openSync, readFileSync } from 'node:fs';

/** Files kept for the process itself: connections to the database and Redis, logs. */
const KEPT = 64;

/** One of so many accepted connections is checked; fewer than are kept. */
const CHECK_EVERY = 16;

/** How many files this process may open, where the system tells. (proc(5), limits) */
function fileLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The lowest number that no open file has: all below are taken. */
function nextFile(): number {
  const file = openSync('/dev/null', 'r');
  closeSync(file);
  return file;
}

/**
 * Watches the files of this process. One that has used them all up can accept nothing, and uWebSockets.js would try again
 * for ever, with all the CPU it gets.
 *
 * @returns to be called for each accepted connection: whether it is to be closed at once
 */
export function watchSpareFiles(limit = fileLimit()): () => boolean {
  let accepted = 0;
  let isShort = false;
  return () => {
    accepted += 1;
    if (isShort || accepted % CHECK_EVERY === 0) isShort = nextFile() >= limit - KEPT;
    return isShort;
  };
}
