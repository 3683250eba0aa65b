import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { createRandom } from '../../support/random.js';
import { modelHistory } from './model-history.js';

async function* textOf(lines: HistoryLine[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line);
}

describe('the checker of npm run prove', () => {
  it('says that a random history without faults holds', async () => {
    const random = createRandom('PROVE_SEED');
    for (let i = 0; i < 200; i += 1) {
      const seed = random.below(2 ** 31);
      const verdict = await judge(textOf(modelHistory(seed)));
      expect(verdict.violations, `seed ${seed}\n${describeVerdict(verdict)}`).to.deep.equal([]);
    }
  });
});
