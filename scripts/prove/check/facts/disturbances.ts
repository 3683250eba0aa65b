import { losingKeys } from '../../faults/kinds.js';
import type { Fault } from '../../history.js';

/** Time, ms, for which a fault is felt after its end: connections are made again, lost pushes found. */
const LINGERS_MS = 15_000;

/**
 * Time, ms, after Redis has lost keys in which presence may be wrong: the second that is promised, and some for the machine. Less than
 * the 6 s after which every process renews it anyway.
 */
const REWRITTEN_MS = 4_000;

const losesKeys = (fault: string) => (losingKeys as string[]).includes(fault);

/** When faults struck: what the service promises "promptly" takes longer near them. */
export class Disturbances {
  readonly #active = new Set<string>();
  /** When the last fault `clock` ended. */
  #clockEndedAt = Number.NEGATIVE_INFINITY;
  /** Faults that have begun. */
  strikes = 0;
  /** The last begin or end of a fault. */
  #last: Fault | undefined;
  /** Its time. */
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Of those by which Redis does not only lose keys. */
  #lastOtherAt = Number.NEGATIVE_INFINITY;

  /** Faults that have not ended. */
  get underWay(): string[] {
    return [...this.#active];
  }

  /** @throws Error if it ends without having begun, or begins twice */
  note({ fault, target, phase, t }: Fault): void {
    const name = `${fault} of ${target}`;
    const isBegin = phase === 'begin';
    if (this.#active.has(name) === isBegin)
      throw new Error(
        `the fault ${name} ${isBegin ? 'begins, and has not ended' : 'ends, and has not begun'}`,
      );
    if (isBegin) this.strikes += 1;
    if (isBegin) this.#active.add(name);
    else this.#active.delete(name);
    if (fault === 'clock') this.#clockEndedAt = isBegin ? Number.POSITIVE_INFINITY : t;
    this.#last = { e: 'fault', fault, target, phase, t };
    this.#lastAt = t;
    if (!losesKeys(fault)) this.#lastOtherAt = t;
  }

  /** Whether the clock of a process was wrong at any moment since then. */
  wasClockWrong(since: number): boolean {
    return this.#clockEndedAt > since;
  }

  /** The process that was killed if nothing has struck since. */
  get killedLast(): string | undefined {
    return this.#last?.fault === 'kill' && this.#active.size === 0 ? this.#last.target : undefined;
  }

  /** Whether no fault was felt from then until now. */
  isCalmSince(t: number): boolean {
    return this.#active.size === 0 && this.#lastAt < t - LINGERS_MS;
  }

  /** Whether who was in a room then must be present: no other fault was felt, and Redis had its keys again. */
  isPresenceSure(t: number): boolean {
    const isCalm = this.#active.size === 0 && this.#lastOtherAt < t - LINGERS_MS;
    return isCalm && this.#lastAt < t - REWRITTEN_MS;
  }

  /**
   * Whether what began then must be done by now.
   * @param calmMs its time without faults
   * @param disturbedMs its time from the end of the last fault on, if there was one
   */
  isSettled(t: number, now: number, calmMs: number, disturbedMs: number): boolean {
    if (this.isCalmSince(t)) return now > t + calmMs;
    return this.#active.size === 0 && now > Math.max(t, this.#lastAt) + disturbedMs;
  }
}
