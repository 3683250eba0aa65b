import { expect } from 'chai';
import { listCloseReasons } from '../../gateway/close-reasons.js';
import { service } from '../support/service.js';
import { mentionsOf, pages, tableOf, wrong } from './documents.js';

interface Family {
  type: string;
  /** Only where something was counted already. */
  labels: string[];
}

/** The families of a process's figures by name, as Prometheus would read them. */
async function figuresOf(base: string): Promise<Map<string, Family>> {
  const answer = await fetch(`${base}/metrics`);
  expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const families = new Map<string, Family>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    expect(text, name).to.match(new RegExp(`^# HELP ${name} \\S`, 'm'));
    const [, inside = ''] = new RegExp(`^${name}(?:_count)?\\{(.*)\\} `, 'm').exec(text) ?? [];
    families.set(name, { type, labels: [...inside.matchAll(/(\w+)="/g)].map(([, label = '']) => label) });
  }
  return families;
}

describe('the metrics of docs/operations.md', () => {
  const rows = tableOf('docs/operations.md', '| metric | kind | meaning, and when to look |').map(
    ([name = '', kind = '', meaning = '']) => {
      const [type = '', labels = ''] = kind.split(' by ');
      return { name: name.slice(1, -1), type, labels: labels.split(', ').filter(Boolean), meaning };
    },
  );
  let ofHttp: Map<string, Family>;
  let ofGateway: Map<string, Family>;

  before(async () => {
    const { http, gateway } = await service();
    // One request, so that there is something to count.
    await (await fetch(`${http}/community/list/recent`)).text();
    [ofHttp, ofGateway] = await Promise.all([figuresOf(http), figuresOf(gateway)]);
  });

  it('are those that both ports tell, Node’s own left out', () => {
    for (const served of [ofHttp, ofGateway]) {
      const ours = [...served.keys()].filter((name) => !/^(?:process|nodejs)_/.test(name));
      expect(rows.map(({ name }) => name).sort()).to.deep.equal(ours.sort());
    }
  });

  it('are of the kind and the labels that are told', async () => {
    const { metrics } = await import('../../domain/platform/metrics.js');
    const labels = new Map(
      Object.values(metrics).map((metric) => {
        const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] };
        return [name, labelNames];
      }),
    );
    for (const row of rows) {
      expect(ofHttp.get(row.name)?.type, row.name).to.equal(row.type);
      expect(labels.get(row.name), row.name).to.deep.equal(row.labels);
    }
    expect(ofHttp.get('http_request_duration_seconds')?.labels).to.include.members([
      'method',
      'route',
      'status',
    ]);
  });

  it('are all that documents name', () => {
    const named = mentionsOf(
      /\b((?:process|nodejs|http|event_streams|sockets?|chat|pushes|notifications|redis|unexpected)_[a-z0-9_]+(?:_total|_seconds|_seconds_count|_open|_up|_bytes))\b/g,
      pages,
    );
    expect(named.length).to.be.greaterThan(25);
    expect(wrong(named, ({ found }) => ofHttp.has(found.replace(/_count$/, '')))).to.deep.equal([]);
  });

  it('tell of reasons that there are', () => {
    const { meaning = '' } = rows.find(({ name }) => name === 'event_streams_closed_total') ?? {};
    const reasons = [...meaning.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason);
    expect(reasons).to.have.members(['expired', 'drain', 'slow', 'too-many']);
    expect(listCloseReasons()).to.have.length(3);
  });
});
