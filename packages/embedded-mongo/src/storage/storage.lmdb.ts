import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ABORT, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { isRequestError, StorageFailure } from '../values/errors.js';
import type { Entry, KeyRange, Storage, Writer } from './storage.js';

type OpenStore = (options: RootDatabaseOptionsWithPath) => RootDatabase<Buffer, Buffer>;

interface Waiting {
  run(writer: Writer): void;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * What a failed write says of the disk: ENOSPC, EFBIG, EDQUOT and LMDB's own MDB_MAP_FULL; EROFS; EIO, which is also
 * what LMDB reports for a partial write ("short write, filesystem full?" in mdb.c).
 */
const DISK = new Map<unknown, string>([
  ...[28, 27, 122, -30792].map((code) => [code, 'full'] as const),
  [30, 'read-only'],
  [5, 'full or failing'],
]);

/**
 * LMDB's refusal (MDB_PANIC) of everything after it failed to write a root page: mdb_env_write_meta sets MDB_FATAL_ERROR,
 * which only closing the environment clears. lmdb-js gives it the code of EINVAL, so the text tells it; a write in this state
 * never settles.
 */
const PANIC = /MDB_PANIC/;

/** Any key: reading it fails where LMDB refuses to read. */
const PROBE = Buffer.from([0]);

/** Header and first 59 readers of the lock file, one page; a single process never has more. */
const LOCK_BYTES = 4096;

/**
 * The durable storage. LMDB is a copy-on-write B-tree: a commit is one atomic switch of the root page, so a crash
 * at any moment leaves the state of the last commit, and no recovery run is needed at start.
 */
export class LmdbStorage implements Storage, Writer {
  readonly #db: RootDatabase<Buffer, Buffer>;
  onRollback = () => {};
  onBroken: (failure: Error) => void = () => {};
  generation = 0;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #lastFailed = false;
  #broken: StorageFailure | undefined;

  /**
   * @param path a folder that no other process uses
   * @param openStore replaces LMDB's own in tests of failures
   * @throws the system's error if there is no space for a new store
   */
  constructor(path: string, openStore: OpenStore = open) {
    reserveLockFile(join(path, 'lock.mdb'));
    this.#db = openStore({
      path,
      keyEncoding: 'binary',
      encoding: 'binary',
      noSubdir: false,
      // Commits are grouped here; lmdb-js's own grouping creates promises that are not awaited: a failed
      // commit would end the process.
      eventTurnBatching: false,
      // lmdb-js would write the new root before the pages it points to are flushed, and trust it after a
      // restart unless the boot id has changed: a snapshot of the disk could lose acknowledged data.
      overlappingSync: false,
    });
  }

  get(key: Buffer): Buffer | undefined {
    return reading(() => this.#db.getBinary(key));
  }

  entries({ start, end, reverse }: KeyRange, limit: number): Entry[] {
    const found: Entry[] = [];
    if (Buffer.compare(start, end) >= 0) return found;
    // LMDB includes the high end of a reversed range and, by default, excludes its low end.
    const options = reverse ? { start: end, end: start, reverse, inclusiveEnd: true } : { start, end };
    return reading(() => {
      for (const entry of this.#db.getRange(options)) {
        if (reverse && found.length === 0 && Buffer.compare(entry.key, end) >= 0) continue;
        found.push(entry);
        if (found.length >= limit) break;
      }
      // lmdb-js takes an error of the system at the beginning of a range for its end.
      if (found.length === 0) this.#db.getBinary(PROBE);
      return found;
    });
  }

  count(start: Buffer, end: Buffer): number {
    return reading(() => this.#db.getKeysCount({ start, end }));
  }

  put(key: Buffer, value: Uint8Array): void {
    const result = this.#db.put(key, value as Buffer) as Promise<boolean> & { result?: boolean };
    if (result.result === false) throw new StorageFailure('the store did not take a value');
  }

  remove(key: Buffer): void {
    this.#db.remove(key);
  }

  /** Group commit: jobs that arrive while a commit is being flushed share the next one. */
  write<T>(job: (writer: Writer) => T): Promise<T> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({
        run: (writer) => {
          result = job(writer);
        },
        resolve: () => resolve(result),
        reject,
      });
      this.#committing ??= this.#commitAll();
    });
  }

  async close(): Promise<void> {
    await this.#committing;
    // After a failed commit lmdb-js waits indefinitely for its flush. The file is consistent without being
    // closed.
    return this.#lastFailed ? undefined : this.#db.close();
  }

  async #commitAll(): Promise<void> {
    // Not synchronously: `committing` must be set before the loop can end.
    await undefined;
    while (this.#waiting.length > 0) await this.#commit();
    this.#committing = undefined;
  }

  /** Whether LMDB still serves after a failed commit, as it does unless the root page was what it failed to write. */
  #isSound(): boolean {
    try {
      // A snapshot from before the failure can still be read.
      this.#db.resetReadTxn();
      this.get(PROBE);
      return true;
    } catch {
      return false;
    }
  }

  async #commit(): Promise<void> {
    let batch: Waiting[] = [];
    let failure: unknown;
    try {
      // lmdb-js can abort only child transactions; a failed put must leave nothing of its job.
      await this.#db.childTransaction(() => {
        batch = this.#waiting;
        this.#waiting = [];
        for (const waiting of batch) {
          try {
            waiting.run(this);
          } catch (error) {
            if (!isRequestError(error)) failure ??= error;
            waiting.resolve = () => waiting.reject(error);
          }
        }
        return failure ? ABORT : undefined;
      });
    } catch (error) {
      failure ??= error;
      if (batch.length === 0) {
        // The transaction never began: reject its jobs.
        batch = this.#waiting;
        this.#waiting = [];
      }
    }
    if (failure) this.#fail(await causeOf(failure), batch);
    else this.#succeed(batch);
  }

  #succeed(batch: Waiting[]): void {
    this.#lastFailed = false;
    this.generation++;
    for (const waiting of batch) waiting.resolve();
  }

  #fail(failure: StorageFailure, batch: Waiting[]): void {
    this.#lastFailed = true;
    this.generation++;
    let refused = batch;
    if (this.#isSound()) this.onRollback();
    else {
      this.#broken = failure;
      this.onBroken(failure);
      refused = [...batch, ...this.#waiting];
      this.#waiting = [];
    }
    for (const waiting of refused) waiting.reject(failure);
  }
}

/** Runs a read. Throws StorageFailure where LMDB refuses it: a program can then tell a database that is away from an error of its own. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw PANIC.test(message) ? new StorageFailure(message, 'full or failing') : error;
  }
}

/**
 * LMDB creates its lock file sparse and writes to it through a memory map: on a full disk that ends the process by
 * SIGBUS. Writing the file first allocates its blocks, or fails with an error. No other process has it open.
 */
function reserveLockFile(file: string): void {
  appendFileSync(file, '');
  // Overwritten, not truncated: a truncated file could lose its block on a full disk.
  writeFileSync(file, Buffer.alloc(LOCK_BYTES), { flag: 'r+' });
}

/** The real cause of a failed commit, which lmdb-js hides in a rejected promise. */
async function causeOf(failure: unknown): Promise<StorageFailure> {
  const { commitError } = failure as { commitError?: Promise<never> };
  const cause = commitError ? await commitError.catch((error: unknown) => error) : failure;
  if (cause instanceof StorageFailure) return cause;
  const { message, code } = cause as Error & { code?: unknown };
  return new StorageFailure(message, DISK.get(code));
}
