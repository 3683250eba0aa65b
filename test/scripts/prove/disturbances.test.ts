import { expect } from 'chai';
import { Disturbances } from '../../../scripts/prove/check/facts/disturbances.js';

/** Interval at which every process renews presence, ms (domain/chat/presence-times.ts). */
const RENEWED_MS = 6_000;

describe('what faults allow presence to be, in the checker of npm run prove', () => {
  /** A fault from 100 s to 101 s. */
  function once(fault: string): Disturbances {
    const disturbances = new Disturbances();
    for (const [phase, t] of [
      ['begin', 100_000],
      ['end', 101_000],
    ] as const)
      disturbances.note({ e: 'fault', fault, target: 'redis', phase, t });
    return disturbances;
  }

  for (const fault of ['flush', 'evict']) {
    it(`is sure some seconds after ${fault}, before it would be renewed anyway`, () => {
      const disturbances = once(fault);
      expect(disturbances.isPresenceSure(101_000 + 2_000), 'a promised second, on a busy machine').to.equal(
        false,
      );
      expect(disturbances.isPresenceSure(101_000 + RENEWED_MS - 1_000)).to.equal(true);
      expect(disturbances.isCalmSince(101_000 + RENEWED_MS), 'of other promises').to.equal(false);
    });
  }

  it('is not sure while keys are lost, or soon after any other fault', () => {
    const disturbances = once('redis-stop');
    expect(disturbances.isPresenceSure(101_000 + RENEWED_MS)).to.equal(false);
    disturbances.note({ e: 'fault', fault: 'flush', target: 'redis', phase: 'begin', t: 200_000 });
    expect(disturbances.isPresenceSure(300_000)).to.equal(false);
  });
});
