import { expect } from 'chai';
import { lengthOf as lengthOfOverload } from '../../../scripts/load/scenarios/overload.js';
import { lengthOf } from '../../../scripts/load/scenarios/silence.js';
import { preparationFor } from '../../../scripts/load/warm-up.js';

describe('the warm-up or pause before a measurement', () => {
  it('is as long as it has to be from --seconds 1 on, from which bounds are judged', () => {
    for (const seconds of [1, 3, 8]) expect(preparationFor({ seconds }, 4)).to.equal(4);
  });

  it('is no longer than the measurement below that, nor than it has to be', () => {
    expect(preparationFor({ seconds: 0.1 }, 4)).to.equal(0.1);
    expect(preparationFor({ seconds: 0.9 }, 0.5)).to.equal(0.5);
  });
});

describe('the measurement of an overload', () => {
  it('is 8 s at least from --seconds 1 on, from which bounds are judged', () => {
    expect([0.1, 1, 8, 20].map((seconds) => lengthOfOverload({ seconds }))).to.deep.equal([0.1, 8, 8, 20]);
    const options = { seconds: 1, minutes: 10 };
    expect(
      ['half of what it carries', 'twice as much', 'half again, after that'].map((line) =>
        lengthOfOverload(options, line),
      ),
    ).to.deep.equal([8, 600, 8]);
  });
});

describe('the measurement of an idle cluster', () => {
  it('has what comes every 30 s twice from --seconds 1 on, from which bounds are judged', () => {
    expect([0.1, 1, 8, 20].map((seconds) => lengthOf({ seconds }))).to.deep.equal([0.8, 60, 64, 160]);
  });
});
