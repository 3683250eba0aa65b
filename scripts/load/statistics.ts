/** A figure of several runs. */
export interface Summary {
  median: number;
  min: number;
  max: number;
  runs: number[];
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}

/** @param runs at least one */
export function summarise(runs: number[]): Summary {
  return { median: median(runs), min: Math.min(...runs), max: Math.max(...runs), runs };
}

/** Samples of a bootstrap, and the share of them that its interval contains. */
const RESAMPLES = 2_000;
const CONFIDENCE = 0.99;

/** Numbers in [0, 1) that are the same in each run. (Lehmer, modulus 2³¹ − 1) */
function createRandom(): () => number {
  let state = 48_271;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * Bootstrap interval (99 %, percentile method) of the difference of two medians: what another few turns of the same
 * two builds would show.
 *
 * @returns lower and upper end of `median(a) - median(b)`
 */
export function differenceInterval(a: number[], b: number[]): [low: number, high: number] {
  const random = createRandom();
  const resampled = (runs: number[]) =>
    median(runs.map(() => runs[Math.floor(random() * runs.length)] as number));
  const differences = Array.from({ length: RESAMPLES }, () => resampled(a) - resampled(b)).sort(
    (x, y) => x - y,
  );
  const cut = Math.floor((RESAMPLES * (1 - CONFIDENCE)) / 2);
  return [differences[cut] as number, differences[RESAMPLES - 1 - cut] as number];
}
