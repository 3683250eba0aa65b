/**
 * Random integers, repeatable by their seed (mulberry32: 32 bits of state are plenty for a few thousand numbers).
 * @returns a function that returns an integer from 0 to below `limit`
 */
export function seededRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/**
 * Draws from a list without repeats.
 * @param below as `seededRandom` yields it
 */
export function drawFrom<T>(list: readonly T[], size: number, below: (limit: number) => number): T[] {
  const rest = [...list];
  return Array.from(
    { length: Math.min(size, rest.length) },
    () => rest.splice(below(rest.length), 1)[0] as T,
  );
}
