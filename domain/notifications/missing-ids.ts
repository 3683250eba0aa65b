/** Ids from the first to the last one, both included. */
export interface IdRange {
  from: number;
  to: number;
}

/** Ids as ranges, lowest first. */
export function rangesOf(ids: number[]): IdRange[] {
  const ranges: IdRange[] = [];
  for (const id of [...ids].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.to === id - 1) last.to = id;
    else ranges.push({ from: id, to: id });
  }
  return ranges;
}

/**
 * How long a missing id is searched for, ms: longer than a live writer stalls. A record stored later is read
 * by the member's next stream, or together with their next notification.
 */
const KEPT_MS = 10 * 60_000;

/** Most ranges kept, the newest: each poll asks the database for all of them. */
const MAX_RANGES = 1_000;

/**
 * Notification ids that were taken but not seen: abandoned, as by a refused insert, or not stored yet.
 * Adjacent ids are one range: a failed insert of a thousand costs no more than a single id.
 */
export class MissingIds {
  /** In the order they were found missing. */
  #ranges: (IdRange & { foundAt: number })[] = [];

  /** @param foundAt by performance.now(); an empty range is ignored */
  add({ from, to }: IdRange, foundAt: number): void {
    if (from > to) return;
    this.#ranges.push({ from, to, foundAt });
    if (this.#ranges.length > MAX_RANGES) this.#ranges = this.#ranges.slice(-MAX_RANGES);
  }

  /** The record of an id has been seen. */
  remove(id: number): void {
    const i = this.#ranges.findIndex(({ from, to }) => from <= id && id <= to);
    const range = this.#ranges[i];
    if (!range) return;
    const rest = [
      { ...range, to: id - 1 },
      { ...range, from: id + 1 },
    ];
    this.#ranges.splice(i, 1, ...rest.filter(({ from, to }) => from <= to));
  }

  clear(): void {
    this.#ranges = [];
  }

  /** The ranges still searched for. @param now performance.now() */
  ranges(now: number): IdRange[] {
    this.#ranges = this.#ranges.filter(({ foundAt }) => now - foundAt < KEPT_MS);
    return this.#ranges;
  }
}
