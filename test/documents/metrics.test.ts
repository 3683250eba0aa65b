import { expect } from 'chai';
import { metricGroups, metrics } from '../../domain/platform/observe/metrics.js';
import { definitionsOf } from '../../scripts/docs/metrics-page.js';
import { service } from '../support/service.js';
import { mentionsOf, pages, textOf, wrong } from './documents.js';

/** The names of the metric families of a process, as Prometheus reads them. */
async function familiesOf(base: string): Promise<string[]> {
  const answer = await fetch(`${base}/metrics`);
  expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  for (const [line, labels = ''] of text.matchAll(/^\w+(?:\{(.*)\})? \S+$/gm))
    expect(labels, line).to.match(/(?:^|,)process="service"/);
  return [...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name = '']) => name);
}

describe('metrics', () => {
  const ours = definitionsOf(metrics);

  it('are served by both ports as documented, apart from Node’s own', async () => {
    const { http, gateway } = await service();
    const names = ours.map(({ name }) => name).sort();
    for (const base of [http, gateway]) {
      const served = await familiesOf(base);
      expect(served.filter((name) => !/^(?:process|nodejs)_/.test(name)).sort()).to.deep.equal(names);
    }
  });

  it('are each in one group of the documents', () => {
    expect(Object.values(metricGroups).flatMap(definitionsOf)).to.have.members(ours);
  });

  it('are named by the conventions of Prometheus', () => {
    for (const { name, type, labelNames } of ours) {
      expect(name).to.match(/^adoption_[a-z]+(?:_[a-z]+)+$/);
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      if (type === 'histogram') expect(name).to.match(/_duration_seconds$/);
      // `process` is on every one; `le` and `instance` are Prometheus' own.
      for (const label of labelNames)
        expect(label, name).not.to.be.oneOf(['process', 'le', 'instance', 'job']);
    }
  });

  it('are the only ones that documents name', async () => {
    const { http } = await service();
    const served = new Set(await familiesOf(http));
    const named = mentionsOf(/\b((?:process|nodejs|adoption)_[a-z0-9_]+)\b/g, pages);
    expect(named.length).to.be.greaterThan(70);
    expect(
      wrong(
        named,
        ({ found }) => served.has(found) || served.has(found.replace(/_(?:count|sum|bucket)$/, '')),
      ),
    ).to.deep.equal([]);
  });

  it('document every reason for closing a stream or a socket', () => {
    const listedBy = (name: string) => {
      const { help = '' } = ours.find((one) => one.name === name) ?? {};
      return [...help.matchAll(/`([\w-]+)`/g)].map(([, value]) => value);
    };
    const [, ofStreams = ''] = /^export type CloseReason =(.*);$/m.exec(textOf('http/sse/stream.ts')) ?? [];
    const [, ofSockets = ''] =
      /^const reasons(.*)^} as const;/ms.exec(textOf('gateway/connection/close-reasons.ts')) ?? [];
    const valuesIn = (text: string) => [...text.matchAll(/(?:\||:|^) '([\w-]+)'/g)].map(([, word]) => word);
    expect(listedBy('adoption_event_streams_closed_total')).to.have.members(valuesIn(ofStreams));
    expect(listedBy('adoption_sockets_closed_total')).to.have.members([...new Set(valuesIn(ofSockets))]);
  });
});
