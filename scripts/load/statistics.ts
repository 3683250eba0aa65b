/** One figure over several runs. */
export interface Summary {
  median: number;
  min: number;
  max: number;
  runs: number[];
}

/** The middle value; of an even number of them the mean of the two in the middle. */
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
