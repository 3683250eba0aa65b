import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import type { Figures } from './metrics.js';

/** Longest time that is recorded unchanged, µs. */
const LONGEST = 60_000_000;

/** A histogram of times in µs. (hdrhistogram.org) @param digits significant ones */
export function createLatencies(digits: 2 | 3 = 3): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: LONGEST,
    numberOfSignificantValueDigits: digits,
    useWebAssembly: false,
  });
}

/** Records a time; a longer one counts as the longest. */
export function record(latencies: Histogram, micros: number): void {
  latencies.recordValue(Math.min(LONGEST, Math.max(1, Math.round(micros))));
}

/** A histogram as text, for another process. */
export function encode(latencies: Histogram): string {
  return encodeIntoCompressedBase64(latencies);
}

/** Merges the encoded histograms of several processes. */
export function merge(encoded: string[]): Histogram {
  const all = createLatencies();
  for (const text of encoded) all.add(decodeFromCompressedBase64(text, 32, false));
  return all;
}

/** The percentiles that tables show, in ms; none of an empty histogram. */
export function percentiles(latencies: Histogram): Figures {
  if (latencies.totalCount === 0) return {};
  const at = (percentile: number) => latencies.getValueAtPercentile(percentile) / 1_000;
  return { p50: at(50), p99: at(99), p999: at(99.9) };
}
