import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import { rules } from '../../../scripts/prove/check/rules/index.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { createRandom } from '../../support/random.js';
import { modelHistory } from './model-history.js';
import { mutations } from './mutations/index.js';

/** Histories that are tried until one has the place for a mutation. */
const ATTEMPTS = 100;

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
      // What follows may hide a change from every rule, rarely: of three histories two must show it.
      const found: boolean[] = [];
      const seeds: number[] = [];
      for (let i = 0; i < ATTEMPTS && found.length < 3; i += 1) {
        const seed = random.below(2 ** 31);
        const lines = structuredClone(modelHistory(seed));
        if (!apply(lines)) continue;
        const { broken } = await judge(textOf(lines));
        found.push(rule in broken);
        seeds.push(seed);
      }
      const times = found.filter(Boolean).length;
      expect(times, `of ${found.length} histories, seeds ${seeds}`).to.be.at.least(
        Math.min(2, found.length || 1),
      );
    });
  }
});
