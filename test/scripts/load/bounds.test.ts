import { expect } from 'chai';
import {
  compareWith as compareHeeding,
  confirm,
  doubtsOf,
  markMissedBefore,
} from '../../../scripts/load/baseline.js';
import { judge, judgeAgain, statusOf } from '../../../scripts/load/outcome.js';
import type { Report } from '../../../scripts/load/report.js';
import type { Scenario } from '../../../scripts/load/scenario.js';
import { verdictLines } from '../../../scripts/load/table.js';
import { atMost, type Value, type Verdict } from '../../../scripts/load/verdict.js';
import { line, reportOf } from './results.js';

const compareWith = (baseline: Report[], now: Report) => compareHeeding(baseline, now, []);

/** CPU of each turn. */
const before = [100, 104, 98, 102, 96];

describe('a bound of a load test with a baseline', () => {
  describe('that is missed, and that the baseline kept', () => {
    const results = [line('a', { cpu: before })];
    /** A run whose figures are within their tolerance. */
    const of = (verdicts: Verdict[], now = results) => {
      const report = { ...reportOf(now, { only: 'a' }), verdicts };
      return { ...report, comparisons: compareWith([reportOf(results)], report) };
    };
    const edge = (value: Value) => atMost('edge', value, 1.25);
    const lost = (value: number) => atMost('lost', value, 0);
    const statusAfter = (first: Report, again: Report) => statusOf([confirm(first, again)]);

    it('is measured again, with all lines that were asked for', () => {
      expect(doubtsOf(of([edge(1.3)]))?.options.only).to.equal('a');
      const confirmed = confirm(of([edge(1.3)]), of([edge(1.2)]));
      expect(confirmed.verdicts).to.deep.equal([{ ...edge(1.2), firstValue: 1.3 }]);
      expect(verdictLines(confirmed.verdicts)[0]).to.match(
        /holds +edge: 1\.20 \(bound 1\.25; 1\.30 when first measured\)/,
      );
      expect(statusOf([confirmed])).to.equal(0);
    });

    it('fails unless it holds then', () => {
      for (const again of [[edge(1.3)], [], [edge({ why: 'void' })]])
        expect(statusAfter(of([edge(1.3)]), of(again))).to.equal(99);
    });

    it('fails if something is lost then, or a contender fails', () => {
      expect(statusAfter(of([edge(1.3), lost(0)]), of([edge(1.2), lost(1)]))).to.equal(99);
      const failed = [line('a', {}, { missing: 'failed: it exited' })];
      expect(statusAfter(of([edge(1.3)]), of([edge(1.2)], failed))).to.equal(1);
    });

    it('is not measured again if it fails in any case, or nothing can be compared', () => {
      expect(doubtsOf(of([edge(1.3), lost(1)]))).to.equal(undefined);
      expect(doubtsOf(of([edge(1.3)], [line('a', {}, { missing: 'failed: it exited' })]))).to.equal(
        undefined,
      );
      expect(doubtsOf(of([edge(1.3)], [line('b', { cpu: before })]))).to.equal(undefined);
      expect(doubtsOf({ ...reportOf(results), verdicts: [edge(1.3)] }), 'without a baseline').to.equal(
        undefined,
      );
    });

    it('is judged by two measurements at most', async () => {
      const scenario: Scenario = {
        ...{ name: 'chat', title: 'stub', columns: ['cpu'], heeds: [], contenders: () => [] },
        verdicts: ([one]) => [edge((one?.figures.cpu?.median ?? 0) / 70)],
      };
      const { verdicts: _, ...measured } = reportOf(results);
      const asked: string[] = [];
      const then = [reportOf(results)];
      const report = await judgeAgain(
        scenario,
        judge(scenario, measured, then),
        then,
        async (options, why) => {
          asked.push(why);
          return { ...measured, options };
        },
      );
      expect(asked).to.deep.equal(['a bound is missed that the baseline kept, or missed by less']);
      expect(statusOf([report as Report])).to.equal(99);
      const good = { ...scenario, verdicts: () => [edge(1.2)] };
      const kept = await judgeAgain(good, judge(good, measured, then), then, async () =>
        expect.fail('measured again'),
      );
      expect(kept).to.equal(undefined);
    });
  });

  it('fails for a bound that the baseline kept, and not for one that it missed, too', () => {
    const missed = (goal: string, bound = 1) => [atMost(goal, 2, bound)];
    const results = [line('a', { cpu: before })];
    const then = {
      ...reportOf(results),
      verdicts: [...missed('old'), atMost('new', 1, 1), ...missed('lost', 0)],
    };
    const statusWith = (verdicts: Verdict[], turns = before) => {
      const now = { ...reportOf([line('a', { cpu: turns })]), verdicts };
      return statusOf([{ ...now, verdicts: markMissedBefore([then], now, compareWith([then], now)) }]);
    };
    expect(statusWith(missed('old'))).to.equal(0);
    expect(statusWith([atMost('old', 3.1, 1)]), 'missed by half more').to.equal(99);
    expect(statusWith([...missed('old'), ...missed('new')])).to.equal(99);
    expect(statusWith(missed('lost', 0)), 'what must be 0').to.equal(99);
    expect(statusWith(missed('old'), [100]), 'nothing to compare').to.equal(99);
    expect(statusOf([{ ...reportOf([]), verdicts: missed('old') }]), 'without a baseline').to.equal(99);
  });
});
