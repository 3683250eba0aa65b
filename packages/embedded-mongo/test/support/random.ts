/**
 * Random choices, repeatable by their seed (mulberry32). Prints it, so that a failing run can be repeated.
 * @param variable environment variable with the seed to use
 */
export function createRandom(variable: string) {
  const seed = Number(process.env[variable] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`      ${variable}=${seed}\n`);
  let state = seed >>> 0;
  /** An integer from 0 to below `limit`. */
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, pick: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
