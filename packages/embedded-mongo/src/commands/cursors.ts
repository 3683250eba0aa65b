import { randomBytes } from 'node:crypto';
import { MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';

/** Scan interval for idle cursors, ms. */
const SWEEP_MS = 60_000;

/** Documents in a first batch by default, as in mongod. */
const FIRST_BATCH = 101;

/** Open cursors at once; one more is refused. */
const MAX_CURSORS = 1000;

/** Time after which an unused cursor is closed, ms, as in mongod. */
const IDLE_MS = 600_000;

/** One batch of a result: documents that are already BSON and are copied unchanged. */
export interface CursorReply {
  namespace: string;
  field: 'firstBatch' | 'nextBatch';
  /** 0n after the last batch. */
  cursorId: bigint;
  documents: Uint8Array[];
}

export const isCursorReply = (reply: object): reply is CursorReply => 'cursorId' in reply;

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
  readonly #sweep = setInterval(() => this.#closeIdle(), SWEEP_MS).unref();

  /** The first batch of a result; with `single` the only one. Throws if there are too many open cursors. */
  first(
    namespace: string,
    documents: Generator<Uint8Array>,
    batchSize = FIRST_BATCH,
    single = false,
  ): CursorReply {
    const cursor: OpenCursor = { namespace, documents, usedAt: Date.now() };
    const { batch, done } = take(cursor, batchSize);
    let cursorId = 0n;
    if (done || single) documents.return(undefined);
    else {
      if (this.#open.size >= MAX_CURSORS)
        throw new CommandError(146, `Too many open cursors (${MAX_CURSORS})`);
      cursorId = randomBytes(8).readBigUInt64LE() >> 1n;
      this.#open.set(cursorId, cursor);
    }
    return { namespace, field: 'firstBatch', cursorId, documents: batch };
  }

  /** The next batch. Throws CursorNotFound (43), and Unauthorized (13) for another collection's cursor. */
  next(cursorId: bigint, namespace: string, batchSize?: number): CursorReply {
    const cursor = this.#open.get(cursorId);
    if (!cursor) throw new CommandError(43, `cursor id ${cursorId} not found`);
    if (cursor.namespace !== namespace)
      throw new CommandError(13, `cursor ${cursorId} belongs to ${cursor.namespace}, not to ${namespace}`);
    cursor.usedAt = Date.now();
    let isOver = true;
    try {
      const { batch, done } = take(cursor, batchSize || Number.POSITIVE_INFINITY);
      isOver = done;
      return { namespace, field: 'nextBatch', cursorId: done ? 0n : cursorId, documents: batch };
    } finally {
      if (isOver) this.#open.delete(cursorId);
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
    const oldest = Date.now() - IDLE_MS;
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
