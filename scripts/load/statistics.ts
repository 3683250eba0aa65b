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
