import { drawFrom, seededRandom } from '../../scripts/mutate/random.js';

/**
 * Random choices, repeatable by their seed. Prints it, so that a failing run can be repeated.
 * @param variable environment variable with the seed to use
 */
export function createRandom(variable: string) {
  const seed = Number(process.env[variable] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`      ${variable}=${seed}\n`);
  const below = seededRandom(seed);
  return {
    seed,
    /** An integer from 0 to below `limit`. */
    below,
    /** The list in random order. */
    shuffle: <T>(list: readonly T[]) => drawFrom(list, list.length, below),
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
  };
}
