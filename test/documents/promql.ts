import { parser } from '@prometheus-io/lezer-promql';

/** The tree of a parsed expression. */
type Tree = ReturnType<typeof parser.parse>;

/** A time series that an expression reads. */
export interface Selector {
  name: string;
  /** The values that its matchers compare labels with; `=~` splits at `|`. */
  matchers: { label: string; values: string[] }[];
}

/** What a PromQL expression names. */
export interface Named {
  selectors: Selector[];
  /** Labels of `by`, `without`, `on`, `ignoring` and `group_left`. */
  grouped: string[];
}

/** Grafana's variables, by what stands in their place for the parser. */
const variables: [RegExp, string][] = [
  [/\$__rate_interval|\$__interval|\$__range/g, '5m'],
  [/\$\w+/g, 'any'],
];

function matcherOf(text: string): Selector['matchers'][number] {
  const [, label = '', operator = '', quoted = ''] = /^(\w+)\s*([=!~]+)\s*"(.*)"$/.exec(text) ?? [];
  return { label, values: operator.endsWith('~') ? quoted.split('|') : [quoted] };
}

/**
 * Reads the names in a PromQL expression, which may use variables of Grafana.
 * @throws Error with the expression, if it is malformed
 */
export function namesIn(expression: string): Named {
  const text = variables.reduce((so, [variable, value]) => so.replace(variable, value), expression);
  const named: Named = { selectors: [], grouped: [] };
  const tree: Tree = parser.parse(text);
  let inGrouping = false;
  tree.iterate({
    enter({ type, from, to }) {
      const part = text.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (type.name === 'GroupingLabels') inGrouping = true;
      if (type.name === 'LabelName' && inGrouping) named.grouped.push(part);
      if (type.name === 'Identifier') named.selectors.push({ name: part, matchers: [] });
      if (type.name === 'UnquotedLabelMatcher') named.selectors.at(-1)?.matchers.push(matcherOf(part));
    },
    leave({ type }) {
      if (type.name === 'GroupingLabels') inGrouping = false;
    },
  });
  return named;
}
