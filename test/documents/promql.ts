import { parser } from '@prometheus-io/lezer-promql';
import { register } from 'prom-client';
import { parse } from 'yaml';
import '../../domain/platform/observe/metrics.js';
import { filesUnder, textOf } from './documents.js';

/** What Prometheus calls our processes: the job, and what it adds to each series. */
const SCRAPED = ['job', 'instance', 'process'];

/** Variables of Grafana, with something valid for the parser in their place. */
const variables: [RegExp, string][] = [
  [/\$__(?:rate_interval|interval|range)/g, '5m'],
  [/\$\w+/g, 'any'],
];

/** What an expression names. */
interface Named {
  series: string[];
  /** Labels that a selector of this series compares. */
  compared: { name: string; label: string }[];
  /** Labels of `by`, `on` and the like. */
  grouped: string[];
}

/**
 * Reads the names in a PromQL expression, which may use variables of Grafana.
 * @throws Error with the expression, if it is malformed
 */
export function namesIn(expression: string): Named {
  const text = variables.reduce((so, [variable, value]) => so.replace(variable, value), expression);
  const named: Named = { series: [], compared: [], grouped: [] };
  const within: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`not PromQL at character ${from}: ${expression}`);
      within.push(type.name);
      const part = text.slice(from, to);
      if (type.name === 'Identifier') named.series.push(part);
      if (type.name !== 'LabelName') return;
      if (within.includes('GroupingLabels')) named.grouped.push(part);
      else named.compared.push({ name: named.series.at(-1) ?? '', label: part });
    },
    leave() {
      within.pop();
    },
  });
  return named;
}

/** A rule of deploy/prometheus. */
export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export const prometheusFiles = filesUnder('deploy/prometheus');

export const rules: Rule[] = prometheusFiles
  .filter((path) => path.endsWith('.rules.yml'))
  .flatMap((path) => (parse(textOf(path)) as { groups: { rules: Rule[] }[] }).groups)
  .flatMap((group) => group.rules);

/** The labels of every series that processes show, by name. */
function shownSeries(): Map<string, string[]> {
  const metrics = register.getMetricsAsArray() as unknown as {
    name: string;
    type: string;
    labelNames: string[];
  }[];
  const series = new Map<string, string[]>([['up', []]]);
  for (const { name, type, labelNames } of metrics) {
    if (type !== 'histogram') series.set(name, labelNames);
    else {
      series.set(`${name}_bucket`, [...labelNames, 'le']);
      series.set(`${name}_count`, labelNames);
      series.set(`${name}_sum`, labelNames);
    }
  }
  return series;
}

/** The labels of every series that expressions may read, by name. */
export const series = shownSeries();
for (const { record, expr, labels } of rules) {
  if (!record) continue;
  const { series: read, grouped } = namesIn(expr);
  const known = series.get(record) ?? [];
  series.set(record, [
    ...known,
    ...Object.keys(labels ?? {}),
    ...grouped,
    ...read.flatMap((name) => series.get(name) ?? []),
  ]);
}

/** What an expression names that no process shows and no rule records. */
export function unknownIn(expression: string): string[] {
  const { series: read, compared, grouped } = namesIn(expression);
  const has = (name: string, label: string) => SCRAPED.includes(label) || series.get(name)?.includes(label);
  return [
    ...read.filter((name) => !series.has(name)),
    ...compared.filter(({ name, label }) => !has(name, label)).map(({ name, label }) => `${name}{${label}}`),
    ...grouped.filter((label) => !read.some((name) => has(name, label))),
  ];
}
