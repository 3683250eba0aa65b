import type { Entry, KeyRange, Storage, Writer } from './storage.js';

/** Entries per chunk before it is split in two. */
const CHUNK = 256;

/** The memory twin of the LMDB storage, for tests: sorted chunks of entries, a map for single keys, nothing durable. */
export class MemoryStorage implements Storage, Writer {
  onRollback = () => {};
  generation = 0;
  private chunks: Entry[][] = [[]];
  private byKey = new Map<string, Entry>();

  get(key: Buffer): Buffer | undefined {
    return this.byKey.get(key.toString('latin1'))?.value;
  }

  entries({ start, end, reverse }: KeyRange, limit: number): Entry[] {
    const found: Entry[] = [];
    if (Buffer.compare(start, end) >= 0) return found;
    const low = this.locate(start);
    const high = this.locate(end);
    // Chunk by chunk from the one end to the other; within a chunk no key need be looked at.
    const last = reverse ? low.chunkIndex : high.chunkIndex;
    const step = reverse ? -1 : 1;
    for (let at = reverse ? high.chunkIndex : low.chunkIndex; ; at += step) {
      const chunk = this.chunks[at] as Entry[];
      const from = at === low.chunkIndex ? low.index : 0;
      const to = at === high.chunkIndex ? high.index : chunk.length;
      const room = limit - found.length;
      if (reverse) for (let i = to - 1; i >= Math.max(from, to - room); i--) found.push(chunk[i] as Entry);
      else for (let i = from; i < Math.min(to, from + room); i++) found.push(chunk[i] as Entry);
      if (at === last || found.length >= limit) return found;
    }
  }

  count(start: Buffer, end: Buffer): number {
    const from = this.locate(start);
    const to = this.locate(end);
    if (from.chunkIndex === to.chunkIndex) return Math.max(0, to.index - from.index);
    let total = from.chunk.length - from.index + to.index;
    for (let i = from.chunkIndex + 1; i < to.chunkIndex; i++) total += this.chunks[i]?.length ?? 0;
    return total;
  }

  put(key: Buffer, value: Uint8Array): void {
    const { chunk, chunkIndex, index, found } = this.locate(key);
    // Copied: a caller's value may be a view of a whole network message.
    const entry = { key, value: Buffer.from(value) };
    chunk.splice(index, found ? 1 : 0, entry);
    this.byKey.set(key.toString('latin1'), entry);
    if (chunk.length > CHUNK) this.chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK / 2));
  }

  remove(key: Buffer): void {
    const { chunk, chunkIndex, index, found } = this.locate(key);
    if (!found) return;
    chunk.splice(index, 1);
    this.byKey.delete(key.toString('latin1'));
    if (chunk.length === 0 && this.chunks.length > 1) this.chunks.splice(chunkIndex, 1);
  }

  async write<T>(job: (writer: Writer) => T): Promise<T> {
    this.generation++;
    return job(this);
  }

  async close(): Promise<void> {
    this.chunks = [[]];
    this.byKey = new Map();
  }

  /** Where a key is, or would be inserted. */
  private locate(key: Buffer): { chunk: Entry[]; chunkIndex: number; index: number; found: boolean } {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const first = this.chunks[middle]?.[0];
      if (first && Buffer.compare(first.key, key) <= 0) low = middle;
      else high = middle - 1;
    }
    const chunk = this.chunks[low] as Entry[];
    let from = 0;
    let to = chunk.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const order = Buffer.compare((chunk[middle] as Entry).key, key);
      if (order === 0) return { chunk, chunkIndex: low, index: middle, found: true };
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return { chunk, chunkIndex: low, index: from, found: false };
  }
}
