import { metricGroups } from '../../domain/platform/observe/metrics.js';

/** What a metric was defined with: the package does not declare it. */
export interface Definition {
  name: string;
  help: string;
  type: string;
  labelNames: string[];
  aggregator: string;
}

const HEAD = `# Metrics

Generated from the code by \`npm run docs\`. [Operating the service](operations.md#metrics) says how to read them, and
which to watch. Every one has the label \`process\`: \`gateway\`, \`http\`, or \`service\` for all in one process. All durations
are in seconds, with the same buckets, to which those of stages add shorter ones. Over several processes a metric is added up, unless its last column says otherwise.
`;

/** The definitions of a group of metrics. */
export function definitionsOf(group: object): Definition[] {
  return Object.values(group) as Definition[];
}

function row({ name, help, type, labelNames, aggregator }: Definition): string {
  const kind = labelNames.length > 0 ? `${type} by ${labelNames.join(', ')}` : type;
  return `| \`${name}\` | ${kind} | ${help} | ${aggregator === 'sum' ? '' : aggregator} |`;
}

/** The page of all metrics of ours. */
export function metricsPage(): string {
  const sections = Object.entries(metricGroups).map(([title, group]) =>
    [
      `## ${title}`,
      '',
      '| metric | kind | meaning | over processes |',
      '| --- | --- | --- | --- |',
      ...definitionsOf(group).map(row),
    ].join('\n'),
  );
  return `${[HEAD, ...sections].join('\n\n').replace('\n\n\n', '\n\n')}\n`;
}
