import { expect } from 'chai';
import { warmUpFor } from '../../../scripts/load/warm-up.js';

describe('the warm-up of a measurement', () => {
  it('is as long as it has to be from --seconds 1 on, from which bounds are judged', () => {
    for (const seconds of [1, 3, 8]) expect(warmUpFor({ seconds }, 4)).to.equal(4);
  });

  it('is no longer than the measurement below that, nor than it has to be', () => {
    expect(warmUpFor({ seconds: 0.1 }, 4)).to.equal(0.1);
    expect(warmUpFor({ seconds: 0.9 }, 0.5)).to.equal(0.5);
  });
});
