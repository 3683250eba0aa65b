import { joinNext } from '../platform/async/shared-runs.js';

/** Most removals that wait, of 140 bytes each. Beyond that the oldest are dropped: those members stay present until their connections end. */
const MAX_WAITING = 50_000;

/** A member who left a room everywhere, while Redis did not answer, or shortly before it lost its data. */
export interface Uncleared {
  chatNo: number;
  memberNo: number;
  /** When, by performance.now(). */
  at: number;
}

interface UnclearedDeps {
  /** @returns false if Redis did not answer */
  clear(uncleared: Uncleared): Promise<boolean>;
  /** Whether Redis is known not to answer, or not to store. */
  isDown(): boolean;
  /** How long a removal is worth repeating, ms. */
  keepFor: number;
}

/** Removals of members from rooms that Redis has not confirmed. They are repeated until it does. */
export class UnclearedMembers {
  readonly #deps: UnclearedDeps;
  /** The oldest first. */
  readonly #waiting = new Map<string, Uncleared>();

  constructor(deps: UnclearedDeps) {
    this.#deps = deps;
  }

  add(uncleared: Uncleared): void {
    const key = `${uncleared.chatNo}:${uncleared.memberNo}`;
    if ((this.#waiting.get(key)?.at ?? Number.NEGATIVE_INFINITY) > uncleared.at) return;
    this.#waiting.delete(key);
    this.#waiting.set(key, uncleared);
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined && this.#waiting.size > MAX_WAITING) this.#waiting.delete(oldest);
  }

  /** Tries again, one after another, while Redis answers. One that it refuses is dropped. */
  readonly clear = joinNext<void, void>(async () => {
    for (const [key, waiting] of [...this.#waiting]) {
      const isOld = performance.now() - waiting.at > this.#deps.keepFor;
      if (!isOld && !(await this.#deps.clear(waiting)) && this.#deps.isDown()) return;
      // The member may have left once more meanwhile.
      if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    }
  });
}
