import { metrics } from './metrics.js';

/** Interval of looks, ms, and after how many a push that has not come is lost. A process that stalls looks less often. */
const LOOK_EVERY_MS = 1_000;
const LOOKS = 10;

/**
 * Time, ms, since somebody here is there to be pushed to, after which what is found missing was pushed to them. Before that, it
 * may have been pushed while this process was subscribing.
 */
export const SUBSCRIBED_MS = 10_000;

/** What was pushed: a message, a read position or presence to a room, a room's state or a notification to a member. */
export type PushKind = 'message' | 'read' | 'presence' | 'room' | 'notification';

type Numbers = Record<string, number>;

/** Of what is pushed once, or in any order: the next push holds it. */
const ANY: Numbers = { pushes: 1 };

interface Waiting {
  kind: PushKind;
  /** The numbers that have not come. */
  numbers: [name: string, least: number][];
  looks: number;
}

/**
 * What clients of this process were given without its push, from the database or from Redis: only of a push that does not
 * come afterwards either it is certain that it was lost. Those are counted.
 */
class LostPushes {
  /** By where the push is to come, then by what it is of. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  #timer: NodeJS.Timeout | undefined;
  #counts = true;

  /** @param counts false where clients are shown what is stored, never what a push says: then nothing tells which push was lost */
  count(counts: boolean): void {
    this.#counts = counts;
  }

  /**
   * Something was given to clients without its push.
   * @param to where the push is to come, such as `room 7` or `member 3`
   * @param of what it is of, such as a message's number
   * @param numbers by name: pushes of these or higher ones hold it, one push of one number and one of the other, too
   */
  mended(kind: PushKind, to: string, of: number, numbers: Numbers = ANY): void {
    if (!this.#counts) return;
    const waiting = this.#waiting.get(to) ?? new Map<string, Waiting>();
    this.#waiting.set(to, waiting.set(`${kind} ${of}`, { kind, numbers: Object.entries(numbers), looks: 0 }));
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** A push has come. */
  came(kind: PushKind, to: string, of: number, numbers: Numbers = ANY): void {
    if (this.#waiting.size === 0) return;
    const key = `${kind} ${of}`;
    const waiting = this.#waiting.get(to);
    const one = waiting?.get(key);
    if (!one) return;
    one.numbers = one.numbers.filter(([name, least]) => (numbers[name] ?? least - 1) < least);
    if (one.numbers.length === 0) waiting?.delete(key);
  }

  /** Nobody is there any more to whom it could come. */
  forget(to: string): void {
    this.#waiting.delete(to);
  }

  #look(): void {
    for (const [to, waiting] of this.#waiting) {
      for (const [key, one] of waiting) {
        one.looks += 1;
        if (one.looks < LOOKS) continue;
        metrics.lostPushes.inc({ what: one.kind });
        waiting.delete(key);
      }
      if (waiting.size === 0) this.#waiting.delete(to);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export const lostPushes = new LostPushes();
