import { expect } from 'chai';
import { mayReadMetrics, metrics, showReadiness } from '../../../../domain/platform/observe/metrics.js';
import { counted } from '../../../support/counted.js';

describe('METRICS_TOKEN', () => {
  it('must match exactly, whatever is sent', () => {
    for (const given of [
      undefined,
      '',
      'operators',
      'Bearer operator',
      'Bearer operatorz',
      'Bearer operators.',
    ])
      expect(mayReadMetrics(given, 'operators'), given).to.equal(false);
    expect(mayReadMetrics('Bearer operators', 'operators')).to.equal(true);
  });
});

describe('adoption_process_ready', () => {
  afterEach(() => showReadiness(() => Promise.reject(new Error('not open'))));

  it('is 0 soon where a backend does not answer: no other metric waits for it', async () => {
    showReadiness(async () => {});
    expect(await counted(metrics.ready)).to.equal(1);
    showReadiness(() => new Promise(() => {}));
    expect(await counted(metrics.ready)).to.equal(0);
  });
});
