import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { service } from '../support/service.js';
import { mentionsOf, pages, tableOf, textOf, wrong } from './documents.js';

interface Family {
  type: string;
  /** Present once something was counted. */
  labels: string[];
}

/** The metric families of a process by name, as Prometheus reads them. */
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
    // One request, so that something is counted.
    await (await fetch(`${http}/community/list/recent`)).text();
    await eventually(async () => {
      [ofHttp, ofGateway] = await Promise.all([figuresOf(http), figuresOf(gateway)]);
      expect(ofHttp.get('http_request_duration_seconds')?.labels).not.to.be.empty;
    });
  });

  it('are those of both ports, apart from Node’s own', () => {
    for (const served of [ofHttp, ofGateway]) {
      const ours = [...served.keys()].filter((name) => !/^(?:process|nodejs)_/.test(name));
      expect(rows.map(({ name }) => name).sort()).to.deep.equal(ours.sort());
    }
  });

  it('have the documented kind and labels', async () => {
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

  it('are the only ones that documents name', () => {
    const named = mentionsOf(
      /\b((?:process|nodejs|http|event_streams|sockets?|chat|pushes|notifications|redis|unexpected)_[a-z0-9_]+)\b/g,
      pages,
    );
    expect(named.length).to.be.greaterThan(25);
    // `chat_no` is a path parameter.
    const isThere = (name: string) => name === 'chat_no' || ofHttp.has(name.replace(/_count$/, ''));
    expect(wrong(named, ({ found }) => isThere(found))).to.deep.equal([]);
  });

  it('document the reasons for closing a stream', () => {
    const { meaning = '' } = rows.find(({ name }) => name === 'event_streams_closed_total') ?? {};
    const reasons = [...meaning.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason);
    const [, union = ''] = /^export type CloseReason = (.*);$/m.exec(textOf('http/sse/stream.ts')) ?? [];
    expect(reasons).to.have.members([...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason));
  });
});
