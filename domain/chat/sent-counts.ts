import type { Side } from './room.model.js';

/** Messages per block: a look-up reads half of one on average. */
const BLOCK = 512;

const CODES = { creator: 1, joiner: 2 } as const;

/** Messages up to a number: all of them, and those of each side. */
export interface UpTo extends Record<Side, number> {
  count: number;
}

/**
 * How many messages each side of a room had sent by each number. It takes little more than a byte per message, so
 * that a room of millions fits into memory.
 */
export class SentCounts {
  #count = 0;
  #newest = 0;
  readonly #sent: Record<Side, number> = { creator: 0, joiner: 0 };
  /** Senders by code, 0 for one who takes no part. */
  readonly #blocks: Uint8Array[] = [];
  /** What each side had sent before each block. */
  readonly #before: Record<Side, number[]> = { creator: [], joiner: [] };
  /** Where numbers begin that follow without a gap, and how many messages come before. */
  readonly #runs: { seq: number; before: number }[] = [];

  /** The number added last; 0 without any. */
  get newest(): number {
    return this.#newest;
  }

  /** All messages added. */
  get all(): Readonly<UpTo> {
    return { count: this.#count, ...this.#sent };
  }

  /** To be called with each message, in order of `seq`. */
  add(seq: number, sender: Side | undefined): void {
    if (seq !== this.#newest + 1 || this.#count === 0) this.#runs.push({ seq, before: this.#count });
    const at = this.#count % BLOCK;
    if (at === 0) {
      this.#blocks.push(new Uint8Array(BLOCK));
      for (const side of ['creator', 'joiner'] as const) this.#before[side].push(this.#sent[side]);
    }
    if (sender) {
      (this.#blocks.at(-1) as Uint8Array)[at] = CODES[sender];
      this.#sent[sender] += 1;
    }
    this.#count += 1;
    this.#newest = seq;
  }

  /** How many of the messages have at most this number. */
  countUpTo(seq: number): number {
    if (seq >= this.#newest) return this.#count;
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#runs[middle]?.seq as number) <= seq) low = middle + 1;
      else high = middle;
    }
    const run = this.#runs[low - 1];
    if (!run) return 0;
    return Math.min(run.before + Math.floor(seq - run.seq) + 1, this.#runs[low]?.before ?? this.#count);
  }

  /** What each side sent in the first messages. */
  first(count: number): UpTo {
    if (count >= this.#count) return { count: this.#count, ...this.#sent };
    const block = Math.floor(count / BLOCK);
    const senders = this.#blocks[block] as Uint8Array;
    let creator = this.#before.creator[block] as number;
    let joiner = this.#before.joiner[block] as number;
    for (let i = 0; i < count % BLOCK; i += 1) {
      if (senders[i] === CODES.creator) creator += 1;
      else if (senders[i] === CODES.joiner) joiner += 1;
    }
    return { count, creator, joiner };
  }
}
