import { expect } from 'chai';
import { filesUnder, textOf } from './documents.js';
import { namesIn, series, unknownIn } from './promql.js';

interface Panel {
  type: string;
  title: string;
  description?: string;
  targets?: { expr: string; legendFormat: string }[];
}

interface Dashboard {
  title: string;
  uid: string;
  panels: Panel[];
  annotations: { list: { expr?: string }[] };
  templating: { list: { name: string; type: string; query: string }[] };
}

const paths = filesUnder('deploy/grafana').filter((path) => path.endsWith('.json'));
const dashboards = paths.map((path) => ({ path, ...(JSON.parse(textOf(path)) as Dashboard) }));
const queries = dashboards.flatMap(({ path, panels }) =>
  panels.flatMap(({ title, targets = [] }) =>
    targets.map((target) => ({ of: `${path}, ${title}`, ...target })),
  ),
);

describe('the dashboards for Grafana', () => {
  it('read only series that processes show or rules record, with labels that these have', () => {
    expect(queries.length).to.be.greaterThan(50);
    const unknown = queries.flatMap(({ of, expr }) => unknownIn(expr).map((name) => `${of}: ${name}`));
    expect(unknown).to.deep.equal([]);
  });

  it('name the lines of a panel by labels that its expression leaves', () => {
    for (const { of, expr, legendFormat } of queries) {
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const { grouped, series: read } = namesIn(expr);
      const isAggregated = /\b(?:sum|max|topk)\b/.test(expr);
      const left = isAggregated
        ? grouped
        : ['process', 'instance', ...read.flatMap((name) => series.get(name) ?? [])];
      expect(left, of).to.include.members(shown);
    }
  });

  it('say in each panel what it shows', () => {
    for (const { path, panels } of dashboards) {
      const shown = panels.filter(({ type }) => type !== 'row');
      expect(new Set(shown.map(({ title }) => title)).size, path).to.equal(shown.length);
      for (const { title, description } of shown) expect(description, `${path}, ${title}`).to.match(/\.$/);
    }
  });

  it('use only variables that they define', () => {
    for (const { path, templating } of dashboards) {
      const defined = templating.list.map(({ name }) => name);
      const used = [...textOf(path).matchAll(/\$\{?(?!__)(\w+)/g)].map(([, name = '']) => name);
      expect(defined, path).to.include.members(used);
      for (const { type, query } of templating.list.filter((variable) => variable.type === 'query')) {
        const [, selector = ''] = /^label_values\((.*), \w+\)$/.exec(query) ?? [];
        expect(unknownIn(selector), `${path}, ${type}`).to.deep.equal([]);
      }
    }
  });

  it('show every metric of ours', () => {
    const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr).series));
    const missing = [...series.keys()].filter(
      (name) => name.startsWith('adoption_') && !name.endsWith('_sum') && !shown.has(name),
    );
    // Each histogram by its buckets or its count.
    const part = (name: string) => name.replace(/_(?:bucket|count)$/, '');
    expect(missing.filter((name) => ![...shown].some((one) => part(one) === part(name)))).to.deep.equal([]);
  });
});
