import { expect } from 'chai';
import { mayReadMetrics } from '../../../domain/platform/metrics.js';

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
