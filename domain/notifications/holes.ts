/** Numbers from the first to the last one, both included. */
export interface Span {
  from: number;
  to: number;
}

/**
 * How long, in ms, a missing number is looked for: longer than any writer stalls that goes on at all. What
 * comes later still is read by the member's next stream, or with their next notification.
 */
const KEPT_MS = 10 * 60_000;

/** Most spans kept, the newest; each look at the database asks for all of them. */
const MAX_SPANS = 1_000;

/**
 * Numbers that were taken and are not there: given up by who took them, as a refused insert does, or on
 * their way still. Neighbouring ones are one span, so that an insert of a thousand that failed costs no
 * more than one number.
 */
export interface Holes {
  /** @param now when it was found missing, by performance.now(); an empty span is none */
  add(span: Span, now: number): void;
  /** A missing number is there after all. */
  fill(id: number): void;
  /** Those that are still looked for. */
  spans(now: number): Span[];
}

export function createHoles(): Holes {
  /** In the order they were found. */
  let holes: (Span & { foundAt: number })[] = [];

  return {
    add({ from, to }, foundAt) {
      if (from > to) return;
      holes.push({ from, to, foundAt });
      if (holes.length > MAX_SPANS) holes = holes.slice(-MAX_SPANS);
    },

    fill(id) {
      const i = holes.findIndex(({ from, to }) => from <= id && id <= to);
      const hole = holes[i];
      if (!hole) return;
      const parts = [
        { ...hole, to: id - 1 },
        { ...hole, from: id + 1 },
      ];
      holes.splice(i, 1, ...parts.filter(({ from, to }) => from <= to));
    },

    spans(now) {
      holes = holes.filter(({ foundAt }) => now - foundAt < KEPT_MS);
      return holes;
    },
  };
}
