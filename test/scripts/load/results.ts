import { type LoadOptions, optionSchema } from '../../../scripts/load/options.js';
import type { Report } from '../../../scripts/load/report.js';
import type { Result, Scenario } from '../../../scripts/load/scenario.js';
import { summarise } from '../../../scripts/load/statistics.js';

/** A line's result. @param figures of each turn */
export const line = (
  name: string,
  figures: Record<string, number[]>,
  others: Partial<Result> = {},
): Result => ({
  ...{ name, role: 'ours' },
  figures: Object.fromEntries(Object.entries(figures).map(([metric, runs]) => [metric, summarise(runs)])),
  ...others,
});

/** A result of each line of a scenario, with a figure for each column. */
export const resultsOf = (scenario: Scenario, options: LoadOptions): Result[] =>
  scenario.contenders(options).map(
    ({ name, role, part }, i): Result => ({
      ...{ name, role, part },
      figures: Object.fromEntries(scenario.columns.map((metric) => [metric, summarise([i + 1])])),
    }),
  );

/** What a load test told, without its plan and its turns. */
export const withoutProgress = (told: string): string =>
  told.replace(/^[a-z]+: (?:\d+ lines, |turn ).*\n/gm, '');

export const machine = { cpu: 'test', cores: 2, memoryGiB: 1, kernel: '6', node: '20' };
/** What `--json` writes of a scenario. */
export const reportOf = (results: Result[], args: object = {}): Report => ({
  ...{ scenario: 'chat', at: '2026-01-01T00:00:00.000Z', machine, verdicts: [], results },
  options: optionSchema.parse(args),
  ...{ loadAverage: [0, 0], provenance: { versions: {} }, units: {} },
});
