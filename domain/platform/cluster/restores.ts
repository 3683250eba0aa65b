/**
 * The database may become an older copy of itself while processes run: by a restore of a backup, or a failover that loses
 * acknowledged writes. What a process remembers of it is then ahead of it.
 */
const listeners = new Set<() => void>();

/** @param listener drops what it remembers of the database. @returns ends it */
export function onRestore(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The database is an older copy (mongo/data-clock.ts). */
export function noteRestore(): void {
  for (const listener of listeners) listener();
}
