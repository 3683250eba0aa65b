import { metrics } from '../metrics.js';
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

/** The figures of which less is better, as the action reads them: one file has one direction. */
export function benchmarks(reports: Report[]): Benchmark[] {
  return reports.flatMap(({ scenario, results }) =>
    results.flatMap(({ name, part, figures }) =>
      Object.entries(figures).flatMap(([metric, { median, min, max, runs }]) => {
        const { better, unit, title } = metrics[metric as keyof typeof figures];
        if (better !== 'lower') return [];
        return {
          name: [scenario, part, name, metric].filter(Boolean).join(' / '),
          ...{ unit, value: median, range: `± ${((max - min) / 2).toPrecision(3)}` },
          extra: `${title}; ${runs.length} turns: ${runs.map((run) => run.toPrecision(4)).join(', ')}`,
        };
      }),
    ),
  );
}
