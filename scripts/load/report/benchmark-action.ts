import { type Metric, metrics } from '../metrics.js';
import { unfitReason } from '../scenario.js';
import type { Report } from './page.js';

/**
 * An entry of github-action-benchmark's tool `customSmallerIsBetter`.
 * (github.com/benchmark-action/github-action-benchmark, README, "Custom benchmarks")
 */
interface Benchmark {
  name: string;
  unit: string;
  value: number;
  /** Spread, as text. */
  range: string;
  /** Shown in a tooltip. */
  extra: string;
}

/** The figures that are judged and of which less is better, as the action reads them: one file has one direction. */
export function benchmarks(reports: Report[]): Benchmark[] {
  return reports.flatMap(({ scenario, results }) =>
    results.flatMap((result) => {
      const { name, part, figures } = result;
      return Object.entries(figures).flatMap(([metric, { median, min, max, runs }]) => {
        const { better, unit, title } = metrics[metric as Metric];
        if (better !== 'lower' || unfitReason(result, metric as Metric) !== undefined) return [];
        return {
          name: [scenario, part, name, metric].filter(Boolean).join(' / '),
          ...{ unit, value: median, range: `± ${((max - min) / 2).toPrecision(3)}` },
          extra: `${title}; ${runs.length} turns: ${runs.map((run) => run.toPrecision(4)).join(', ')}`,
        };
      });
    }),
  );
}
