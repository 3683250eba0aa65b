/** Random choices, repeatable by their seed. */
export interface Random {
  seed: number;
  /** An integer from 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

/**
 * Prints its seed, so that a failing run can be repeated.
 * @param variable environment variable with the seed to use
 */
export function createRandom(variable: string): Random {
  const seed = Number(process.env[variable] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`      ${variable}=${seed}\n`);
  let state = seed >>> 0;
  // Mulberry32: 32 bits of state are plenty for a few thousand choices.
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return { seed, below, pick: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
