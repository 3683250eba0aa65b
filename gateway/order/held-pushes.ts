import type { ReadPosition } from '../../domain/kernel/live.js';

interface HeldRead {
  position: ReadPosition;
  deliver: () => void;
}

/** In nearly all rooms nothing is held, and each map takes 200 bytes. */
const NONE = new Map<number, never>();

/** Pushes of a room that came out of order, or while nothing of it was delivered. */
export class HeldPushes {
  /** By number. */
  #messages: Map<number, () => void> = NONE;
  /** The furthest of each member. */
  #reads: Map<number, HeldRead> = NONE;
  /** Other changes, in order. */
  #changes: (() => void)[] | undefined;

  get messages(): number {
    return this.#messages.size;
  }

  /** How many messages and read positions there are. */
  get size(): number {
    return this.#messages.size + this.#reads.size;
  }

  /** The numbers of all messages, and of those that read positions refer to. */
  get numbers(): number[] {
    return [...this.#messages.keys(), ...[...this.#reads.values()].map(({ position }) => position.seq)];
  }

  holdsMessage(seq: number): boolean {
    return this.#messages.has(seq);
  }

  addMessage(seq: number, deliver: () => void): void {
    if (this.#messages === NONE) this.#messages = new Map();
    this.#messages.set(seq, deliver);
  }

  addRead(position: ReadPosition, deliver: () => void): void {
    if (this.#reads === NONE) this.#reads = new Map();
    const held = this.#reads.get(position.memberNo);
    if (!held || position.seq > held.position.seq) this.#reads.set(position.memberNo, { position, deliver });
  }

  addChange(deliver: () => void): void {
    this.#changes ??= [];
    this.#changes.push(deliver);
  }

  /** Takes the messages after a number, up to the first gap; those before it are dropped. */
  *takeMessages(after: number): Generator<() => void> {
    for (const seq of this.#messages.keys()) if (seq <= after) this.#messages.delete(seq);
    for (let next = after + 1; ; next += 1) {
      const deliver = this.#messages.get(next);
      if (!deliver) break;
      this.#messages.delete(next);
      yield deliver;
    }
    if (this.#messages.size === 0) this.#messages = NONE;
  }

  /** Takes the read positions up to a number. */
  takeReads(upTo: number): HeldRead[] {
    const reads = [...this.#reads.values()].filter(({ position }) => position.seq <= upTo);
    for (const { position } of reads) this.#reads.delete(position.memberNo);
    if (this.#reads.size === 0) this.#reads = NONE;
    return reads;
  }

  takeChanges(): (() => void)[] {
    const changes = this.#changes ?? [];
    this.#changes = undefined;
    return changes;
  }

  /** Drops messages and read positions, which the database has. */
  drop(): void {
    this.#messages = NONE;
    this.#reads = NONE;
  }
}
