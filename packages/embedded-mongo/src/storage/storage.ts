/** A key and its value. The caller may keep both. */
export interface Entry {
  key: Buffer;
  value: Buffer;
}

/** Keys from `start` (inclusive) to `end` (exclusive), from the low or the high end. */
export interface KeyRange {
  start: Buffer;
  end: Buffer;
  reverse: boolean;
}

/** Read access. Keys are ordered byte by byte. */
export interface Reader {
  /** Rises with every commit: what was read under a lower number may have changed. */
  readonly generation: number;
  get(key: Buffer): Buffer | undefined;
  /** Up to `limit` entries; nothing stays open afterwards: a scan continues after its last key. */
  entries(range: KeyRange, limit: number): Entry[];
  count(start: Buffer, end: Buffer): number;
}

export interface Writer extends Reader {
  put(key: Buffer, value: Uint8Array): void;
  remove(key: Buffer): void;
}

/**
 * The small ordered key-value store under the database.
 *
 * `write` runs jobs one at a time, in the order of the calls. Later jobs see what a job put, and once its
 * promise resolves, it is on disk (if the storage is durable). Several jobs may share one commit. A job that
 * throws must not have put anything before; if the store itself fails, every job of that commit rejects and
 * none of their puts remains.
 */
export interface Storage extends Reader {
  write<T>(job: (writer: Writer) => T): Promise<T>;
  /** Called after a failed commit, before any later job runs. */
  onRollback: () => void;
  /**
   * Called after a failed commit that has left the store unusable until it is opened again, in the same turn in which that
   * becomes known: before the commit's jobs reject. What was acknowledged is on disk. Every read throws then, every write rejects.
   */
  onBroken: (failure: Error) => void;
  close(): Promise<void>;
}
