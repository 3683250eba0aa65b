import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import { rules } from '../../../scripts/prove/check/rules/index.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { createRandom } from '../../support/random.js';
import { modelHistory } from './model-history.js';
import { mutations } from './mutations/index.js';

/** Histories that each mutation is tried on, and their length: what it changes is at their end. */
const HISTORIES = 3;
const STEPS = 100;

async function* textOf(lines: HistoryLine[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line);
}

describe('the checker of npm run prove', () => {
  const random = createRandom('PROVE_SEED');

  it('finds nothing in random histories of a service that keeps its promises, with lost answers or without', async () => {
    for (let i = 0; i < 20; i += 1) {
      const seed = random.below(2 ** 31);
      const verdict = await judge(textOf(modelHistory(seed, 300, i % 2 === 0 ? 0 : 25)));
      expect(verdict.violations, `seed ${seed}\n${describeVerdict(verdict)}`).to.deep.equal([]);
    }
  });

  it('has a mutation for each rule', () => {
    const found = new Set(mutations.map(({ rule }) => rule));
    expect(rules.map(({ name }) => name).filter((name) => !found.has(name))).to.deep.equal([]);
  });

  for (const { fault, rule, apply } of mutations) {
    it(`finds, as ${rule}, that a service ${fault}`, async () => {
      for (let i = 0; i < HISTORIES; i += 1) {
        const seed = random.below(2 ** 31);
        const lines = modelHistory(seed, STEPS);
        apply(lines);
        const { broken } = await judge(textOf(lines));
        expect(broken, `seed ${seed}`).to.have.property(rule);
      }
    });
  }
});
