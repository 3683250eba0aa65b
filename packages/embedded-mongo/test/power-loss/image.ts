/** What a disk may hold after a power cut. */
import { basename, dirname } from 'node:path';
import type { FileEvent, FileWrite } from './trace.js';

/** What a disk writes whole or not at all, bytes. */
const SECTOR = 512;

type Random = { below(limit: number): number };

/** What becomes of the writes that no sync has reached. */
const FATES = ['are lost', 'are kept', 'by sectors', 'by pages', 'by calls'] as const;

/** Whether each piece of a write reaches the disk: in pieces of this many bytes, or as a whole. */
function pieceSize(fate: (typeof FATES)[number]): number {
  if (fate === 'by sectors') return SECTOR;
  return fate === 'by pages' ? 4_096 : Number.MAX_SAFE_INTEGER;
}

/** The content of a file, which grows. */
class Content {
  bytes = Buffer.alloc(0);

  /** Bytes that nobody wrote are zeros. */
  grow(length: number): void {
    if (length > this.bytes.length)
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(length - this.bytes.length)]);
  }

  put(offset: number, data: Buffer): void {
    this.grow(offset + data.length);
    data.copy(this.bytes, offset);
  }
}

/** Cuts a write at the multiples of a size, as the disk places them. */
function* piecesOf({ offset, data }: FileWrite, size: number): Generator<[offset: number, data: Buffer]> {
  for (let at = 0; at < data.length; ) {
    const end =
      size === Number.MAX_SAFE_INTEGER
        ? data.length
        : Math.min(data.length, at + size - ((offset + at) % size));
    yield [offset + at, data.subarray(at, end)];
    at = end;
  }
}

/** A disk at the moment when the power fails. */
class Disk {
  readonly fate: (typeof FATES)[number];
  readonly files = new Map<string, Content>();
  /** Writes that no sync has reached. */
  open = 0;
  readonly #random: Random;
  readonly #syncs: (FileEvent & { kind: 'sync' })[];
  readonly #moment: number;

  constructor(syncs: (FileEvent & { kind: 'sync' })[], moment: number, random: Random) {
    this.fate = FATES[random.below(FATES.length)] as (typeof FATES)[number];
    this.#random = random;
    this.#moment = moment;
    this.#syncs = syncs.filter(({ to }) => to < moment);
  }

  #isKept(): boolean {
    return this.fate === 'are kept' || (this.fate !== 'are lost' && this.#random.below(2) === 0);
  }

  /** Whether a file, or a folder's names, were synced after a moment. */
  #isSynced(file: string, after: number): boolean {
    return this.#syncs.some((sync) => sync.file === file && sync.from > after);
  }

  rename({ file, newName, to }: FileEvent & { kind: 'rename' }): void {
    const content = this.files.get(file);
    if (content && (this.#isSynced(dirname(file), to) || this.#isKept())) this.files.set(newName, content);
  }

  write(event: FileWrite): void {
    const { file, offset, data, to } = event;
    const content = this.files.get(file) ?? new Content();
    this.files.set(file, content);
    if ((event.isSynced && to < this.#moment) || this.#isSynced(file, to)) {
      content.put(offset, data);
      return;
    }
    this.open += 1;
    // A file may be as long as its last write says before that has arrived.
    if (this.#isKept()) content.grow(offset + data.length);
    for (const [at, piece] of piecesOf(event, pieceSize(this.fate)))
      if (this.#isKept()) content.put(at, piece);
  }
}

/**
 * The files after a power cut: everything synced, and of the rest what chance leaves. A later write may be there without
 * an earlier one.
 *
 * @param moment the line of the trace before which the power fails
 * @returns the contents by name, and what happened to what was not synced
 */
export function imageAt(events: FileEvent[], moment: number, random: Random) {
  const disk = new Disk(
    events.filter((event) => event.kind === 'sync'),
    moment,
    random,
  );
  for (const event of events.toSorted((a, b) => a.from - b.from)) {
    if (event.from >= moment) break;
    if (event.kind === 'rename') disk.rename(event);
    else if (event.kind === 'write') disk.write(event);
  }
  const contents = new Map([...disk.files].map(([name, { bytes }]) => [basename(name), bytes]));
  return { contents, fate: `${disk.open} writes not synced ${disk.fate}`, open: disk.open };
}
