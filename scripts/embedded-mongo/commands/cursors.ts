import { randomBytes } from 'node:crypto';
import { MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import type { Batch } from '../wire/messages.js';

/** Scan interval for idle cursors, ms. */
const SWEEP_MS = 60_000;

/** Documents in a first batch by default, as in mongod. */
const FIRST_BATCH = 101;

export interface CursorLimits {
  /** Open cursors at once; one more is refused. */
  maxCursors: number;
  /** Time after which an unused cursor is closed, ms; in mongod 10 minutes. */
  idleMs: number;
}

interface OpenCursor {
  namespace: string;
  documents: Generator<Uint8Array>;
  /** The first document of the next batch, read to know whether there is one. */
  pending?: Uint8Array;
  usedAt: number;
}

/** The open cursors of a server. They hold no snapshot: each batch reads the current documents, like mongod's local reads. */
export class Cursors {
  readonly #open = new Map<bigint, OpenCursor>();
  readonly #limits: CursorLimits;
  readonly #sweep: NodeJS.Timeout;

  constructor(limits: CursorLimits) {
    this.#limits = limits;
    this.#sweep = setInterval(() => this.#closeIdle(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** The first batch of a result; with `single` the only one. Throws if there are too many open cursors. */
  first(namespace: string, documents: Generator<Uint8Array>, batchSize = FIRST_BATCH, single = false): Batch {
    const cursor: OpenCursor = { namespace, documents, usedAt: Date.now() };
    const { batch, done } = take(cursor, batchSize);
    if (done || single) {
      documents.return(undefined);
      return { cursorId: 0n, documents: batch };
    }
    if (this.#open.size >= this.#limits.maxCursors)
      throw new CommandError(146, `Too many open cursors (${this.#limits.maxCursors})`);
    const cursorId = randomBytes(8).readBigUInt64LE() >> 1n;
    this.#open.set(cursorId, cursor);
    return { cursorId, documents: batch };
  }

  /** The next batch. Throws CursorNotFound (43), and Unauthorized (13) for another collection's cursor. */
  next(cursorId: bigint, namespace: string, batchSize?: number): Batch {
    const cursor = this.#open.get(cursorId);
    if (!cursor) throw new CommandError(43, `cursor id ${cursorId} not found`);
    if (cursor.namespace !== namespace)
      throw new CommandError(
        13,
        `cursor id ${cursorId} belongs to ${cursor.namespace}, not to '${namespace}'`,
      );
    cursor.usedAt = Date.now();
    try {
      const { batch, done } = take(cursor, batchSize || Number.POSITIVE_INFINITY);
      if (!done) return { cursorId, documents: batch };
      this.#open.delete(cursorId);
      return { cursorId: 0n, documents: batch };
    } catch (error) {
      this.#open.delete(cursorId);
      throw error;
    }
  }

  /** Closes a cursor; false if it was not open. */
  kill(cursorId: bigint): boolean {
    this.#open.get(cursorId)?.documents.return(undefined);
    return this.#open.delete(cursorId);
  }

  get size(): number {
    return this.#open.size;
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const cursorId of [...this.#open.keys()]) this.kill(cursorId);
  }

  #closeIdle(): void {
    const oldest = Date.now() - this.#limits.idleMs;
    for (const [cursorId, cursor] of this.#open) if (cursor.usedAt < oldest) this.kill(cursorId);
  }
}

/** Up to `count` documents and 16 MiB, but at least one. */
function take(cursor: OpenCursor, count: number): { batch: Uint8Array[]; done: boolean } {
  const batch: Uint8Array[] = [];
  if (count === 0) return { batch, done: false };
  let bytes = 0;
  for (;;) {
    const next = cursor.pending ?? cursor.documents.next().value;
    cursor.pending = undefined;
    if (!next) return { batch, done: true };
    if (batch.length >= count || (batch.length > 0 && bytes + next.length > MAX_DOCUMENT_BYTES)) {
      cursor.pending = next;
      return { batch, done: false };
    }
    batch.push(next);
    bytes += next.length;
  }
}
