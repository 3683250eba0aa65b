import { build, decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js';
import type { Figures } from './metrics.js';

/** Longest time that is told apart, in µs. */
const LONGEST = 60_000_000;

/** A histogram of times in µs, three digits exact. (hdrhistogram.org) */
export function createLatencies(): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: LONGEST,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  });
}

/** Notes one; what took longer than is told apart counts as the longest. */
export function note(latencies: Histogram, micros: number): void {
  latencies.recordValue(Math.min(LONGEST, Math.max(1, Math.round(micros))));
}

/** One histogram of several processes' encoded ones. */
export function merge(encoded: string[]): Histogram {
  const all = createLatencies();
  for (const text of encoded) all.add(decodeFromCompressedBase64(text, 32, false));
  return all;
}

/** The percentiles a table shows, in ms; nothing where nothing was noted. */
export function percentiles(latencies: Histogram): Figures {
  if (latencies.totalCount === 0) return {};
  const at = (percentile: number) => latencies.getValueAtPercentile(percentile) / 1_000;
  return { p50: at(50), p99: at(99), p999: at(99.9) };
}
