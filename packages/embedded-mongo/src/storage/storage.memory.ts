import type { Entry, KeyRange, Storage, Writer } from './storage.js';

/** Entries per chunk before it is split in two. */
const CHUNK = 256;

/** Storage in memory, for tests: sorted chunks of entries. */
export class MemoryStorage implements Storage, Writer {
  onRollback = () => {};
  onBroken = () => {};
  generation = 0;
  #chunks: Entry[][] = [[]];

  get(key: Buffer): Buffer | undefined {
    const { chunk, index } = this.#locate(key);
    const entry = chunk[index];
    return entry?.key.equals(key) ? entry.value : undefined;
  }

  entries({ start, end, reverse }: KeyRange, limit: number): Entry[] {
    const found: Entry[] = [];
    if (Buffer.compare(start, end) >= 0) return found;
    const low = this.#locate(start);
    const high = this.#locate(end);
    // Chunk by chunk from one end to the other, without comparing keys again.
    const [first, last, step] = reverse ? [high.at, low.at, -1] : [low.at, high.at, 1];
    for (let at = first; ; at += step) {
      const chunk = this.#chunks[at] as Entry[];
      const part = chunk.slice(at === low.at ? low.index : 0, at === high.at ? high.index : chunk.length);
      if (reverse) part.reverse();
      for (const entry of part.slice(0, limit - found.length)) found.push(entry);
      if (at === last || found.length >= limit) return found;
    }
  }

  count(start: Buffer, end: Buffer): number {
    const low = this.#locate(start);
    const high = this.#locate(end);
    let total = high.index - low.index;
    for (let at = low.at; at < high.at; at++) total += (this.#chunks[at] as Entry[]).length;
    return Math.max(0, total);
  }

  put(key: Buffer, value: Uint8Array): void {
    const { chunk, at, index } = this.#locate(key);
    // Copied: the value may be a view of a network message.
    chunk.splice(index, chunk[index]?.key.equals(key) ? 1 : 0, { key, value: Buffer.from(value) });
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
  }

  remove(key: Buffer): void {
    const { chunk, at, index } = this.#locate(key);
    if (chunk[index]?.key.equals(key)) chunk.splice(index, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  async write<T>(job: (writer: Writer) => T): Promise<T> {
    this.generation++;
    return job(this);
  }

  async close(): Promise<void> {
    this.#chunks = [[]];
  }

  /** Where a key is or would be inserted: its chunk, the chunk's number, and the index in it. */
  #locate(key: Buffer): { chunk: Entry[]; at: number; index: number } {
    const chunks = this.#chunks;
    const next = search(chunks.length, (i) => {
      const first = chunks[i]?.[0];
      // Only the one chunk of an empty store has no entry.
      return first !== undefined && Buffer.compare(first.key, key) <= 0;
    });
    const at = Math.max(0, next - 1);
    const chunk = chunks[at] as Entry[];
    return {
      chunk,
      at,
      index: search(chunk.length, (i) => Buffer.compare((chunk[i] as Entry).key, key) < 0),
    };
  }
}

/** Binary search: the first of `length` indexes that is not below the target. */
function search(length: number, isBelow: (i: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
