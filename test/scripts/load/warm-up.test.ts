import { expect } from 'chai';
import { optionSchema } from '../../../scripts/load/options.js';
import { timesOf } from '../../../scripts/load/scenarios/announce.js';
import { lengthOf as lengthOfOverload } from '../../../scripts/load/scenarios/overload.js';
import { lengthOf as lengthOfSilence } from '../../../scripts/load/scenarios/silence.js';
import { minutesOf } from '../../../scripts/load/scenarios/soak.js';
import { preparationFor } from '../../../scripts/load/warm-up.js';

const of = (seconds: number, others: object = {}) => optionSchema.parse({ seconds, ...others });

/** Options of a run that is compared. */
const comparisons = [{ baseline: 'file' }, { 'save-baseline': 'file' }];

describe('a short run of a load test', () => {
  it('has a warm-up or pause that is no longer than the measurement, nor than it has to be', () => {
    expect([0.1, 1, 3, 7].map((seconds) => preparationFor(of(seconds), 4))).to.deep.equal([0.1, 1, 3, 4]);
  });

  it('announces as often as it is long, before the measurement and in it', () => {
    expect([0.1, 1, 2.5, 7].map((seconds) => timesOf(of(seconds)))).to.deep.equal([
      { warmUps: 1, times: 1 },
      { warmUps: 1, times: 1 },
      { warmUps: 3, times: 3 },
      { warmUps: 7, times: 5 },
    ]);
  });

  it('has no least length of an overload or of silence', () => {
    expect([0.1, 1, 3].map((seconds) => lengthOfOverload(of(seconds)))).to.deep.equal([0.1, 1, 3]);
    expect([0.1, 1, 3].map((seconds) => lengthOfSilence(of(seconds)))).to.deep.equal([0.8, 8, 24]);
  });

  it('has a soak that is shorter in proportion, unless its minutes are given', () => {
    expect([1, 4].map((seconds) => minutesOf(of(seconds)))).to.deep.equal([1.25, 5]);
    expect(minutesOf(of(1, { minutes: 3 }))).to.equal(3);
  });
});

describe('a load test of the default length, or one that is compared with another build', () => {
  const whole = [of(8), of(20), ...comparisons.map((option) => of(1, option))];

  it('has a warm-up or pause of all that is needed', () => {
    for (const options of whole) expect(preparationFor(options, 4)).to.equal(4);
  });

  it('measures five announcements after eight', () => {
    for (const options of whole) expect(timesOf(options)).to.deep.equal({ warmUps: 8, times: 5 });
  });

  it('measures an overload for 8 s at least, and of twice the load for --minutes', () => {
    expect(whole.map((options) => lengthOfOverload(options))).to.deep.equal([8, 20, 8, 8]);
    const options = of(1, { minutes: 10, ...comparisons[0] });
    expect(
      ['half of what it carries', 'twice as much', 'half again, after that'].map((line) =>
        lengthOfOverload(options, line),
      ),
    ).to.deep.equal([8, 600, 8]);
  });

  it('has in an idle cluster what comes every 30 s twice', () => {
    expect(whole.map(lengthOfSilence)).to.deep.equal([64, 160, 60, 60]);
  });

  it('soaks for ten minutes', () => {
    for (const options of whole) expect(minutesOf(options)).to.equal(10);
  });
});
