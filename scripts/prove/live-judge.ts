import type { CountedName } from './check/facts/coverage.js';
import { Judge, type Verdict, type Violation } from './check/judge.js';
import { checkLine } from './check/line-schema.js';

/** What a run is told while it is judged. */
export interface LiveEvents {
  /** The first promise is broken. */
  broken(violation: Violation): void;
  /** A line cannot be judged, nor what follows it. The error names its number. */
  failed(error: Error): void;
}

/** Judges a run's history while it is written, as a kept one is judged later: each line is checked, which copies it. */
export class LiveJudge {
  readonly #judge = new Judge();
  readonly #events: LiveEvents;
  #lines = 0;
  #isBroken = false;
  #error: Error | undefined;

  constructor(events: LiveEvents) {
    this.#events = events;
  }

  /** Takes the next line of the history. Does not throw: who writes it is no judge. */
  read(line: unknown): void {
    this.#lines += 1;
    if (this.#error) return;
    try {
      this.#judge.read(checkLine(line));
    } catch (error) {
      this.#error = new Error(`line ${this.#lines}: ${(error as Error).message}`, { cause: error });
      this.#events.failed(this.#error);
      return;
    }
    const [first] = this.#judge.violations;
    if (!first || this.#isBroken) return;
    this.#isBroken = true;
    this.#events.broken(first);
  }

  /** What clients have not reached so far, although they can. */
  lacking(): CountedName[] {
    return this.#judge.lacking();
  }

  /** Whether a fault of this kind has met something that it could hurt. */
  hasMet(fault: string): boolean {
    return this.#judge.hasMet(fault);
  }

  /** What the run has not reached so far, a line each. */
  missing(): string[] {
    return this.#judge.missing();
  }

  /** The verdict on all lines. To be called once, when there are no more. @throws Error of a line that could not be judged */
  end(): Verdict {
    if (this.#error) throw this.#error;
    return this.#judge.end();
  }
}
