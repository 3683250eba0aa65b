import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InvalidArguments } from '../../../scripts/command/run-command.js';
import {
  type Comparison,
  compareWith,
  comparisonLines,
  confirm,
  doubtsOf,
  markMissedBefore,
  readReports,
} from '../../../scripts/load/baseline.js';
import { judge, judgeAgain, statusOf } from '../../../scripts/load/outcome.js';
import type { Report } from '../../../scripts/load/report/page.js';
import type { Scenario } from '../../../scripts/load/scenario.js';
import { differenceInterval } from '../../../scripts/load/statistics.js';
import { verdictLines } from '../../../scripts/load/table.js';
import { atMost, type Value, type Verdict } from '../../../scripts/load/verdict.js';
import { runScript } from '../script-runs.js';
import { line, machine, reportOf } from './results.js';

describe('a load test against its baseline', () => {
  const before = [100, 104, 98, 102, 96];
  const compared = (now: number[], metric = 'cpu', earlier = before) =>
    compareWith([reportOf([line('a', { [metric]: earlier })])], reportOf([line('a', { [metric]: now })]))[0];

  it('has a tolerance from the spread of the turns', () => {
    expect(compared([101, 105, 99, 103, 97])?.outcome).to.equal('within');
    expect(compared([150, 154, 148, 152, 146])).to.include({
      outcome: 'regressed',
      figure: 'chat, a: CPU µs',
    });
    expect(compared([50, 54, 48, 52, 46])?.outcome, 'better').to.equal('within');
    const noisy = [100, 200, 60, 150, 80];
    expect(compared([110, 210, 70, 160, 90], 'cpu', noisy)?.outcome, 'a wide spread').to.equal('within');
    const steady = (by: number, metric: string) =>
      compared(Array(5).fill(100 + by), metric, Array(5).fill(100))?.outcome;
    for (const [metric, most] of Object.entries({
      resident: 5,
      memory: 20,
      cpu: 20,
      databaseCpu: 30,
      p99: 50,
    })) {
      expect(steady(most - 1, metric), `${metric}, ${most - 1} %`).to.equal('within');
      expect(steady(most + 1, metric), `${metric}, ${most + 1} %`).to.equal('regressed');
    }
  });

  it('takes CPU in units of the machine’s reference work, and latencies in either', () => {
    const twice = [200, 204, 198, 202, 196];
    const slower = (reference: number, metric = 'cpu') =>
      compareWith(
        [reportOf([line('a', { [metric]: before, reference: [10] })])],
        reportOf([line('a', { [metric]: twice, reference: [reference] })]),
      )[0];
    expect(slower(20), 'a slower machine').to.include({ outcome: 'within', pace: 2 });
    expect(slower(5), 'a faster machine').to.include({ outcome: 'regressed', pace: 0.5 });
    expect(comparisonLines([slower(11) as Comparison])[0]).to.match(/, machine 1\.10 times as slow\)/);
    for (const metric of ['p99', 'duration']) {
      expect(slower(20, metric)?.outcome, `${metric}, a slower machine`).to.equal('within');
      expect(slower(10, metric)?.outcome, `${metric}, the same machine`).to.equal('regressed');
    }
    expect(slower(20, 'memory')?.outcome, 'memory').to.equal('regressed');
    const fewer = (reference: number) =>
      compareWith(
        [reportOf([line('a', { perSecond: twice, reference: [10] })])],
        reportOf([line('a', { perSecond: before, reference: [reference] })]),
      )[0]?.outcome;
    expect([fewer(10), fewer(20)]).to.deep.equal(['regressed', 'within']);
  });

  it('knows which figures are worse when they fall, and what nothing was lost of', () => {
    expect(compared([50, 54, 48, 52, 46], 'perSecond')?.outcome).to.equal('regressed');
    expect(compared([1, 2, 1, 1, 1], 'lost', [0, 0, 0, 0, 0])?.outcome).to.equal('regressed');
    expect(compared([200, 200, 200, 200, 200], 'delivered', before)).to.equal(undefined);
  });

  it('compares memory even if all turns are void, and nothing of another kind of installation', () => {
    const now = reportOf([line('a', { memory: [20, 20, 20, 20, 20], cpu: before }, { void: 'busy' })]);
    const then = reportOf([line('a', { memory: [10, 10, 10, 10, 10], cpu: before })]);
    expect(compareWith([then], now).map(({ outcome }) => outcome)).to.deep.equal(['not judged', 'regressed']);
    const where = { http: 'http://127.0.0.1:1', gateway: 'http://127.0.0.1:2' };
    expect(compareWith([reportOf(then.results, where)], now)[0]?.why).to.equal(
      'only one of both is of an installation that ran already',
    );
  });

  it('says what it cannot judge', () => {
    expect(compared([150, 150, 150])).to.include({ why: '3 turns, at least 5 are needed' });
    const now = reportOf([line('a', { cpu: before }), line('b', { cpu: before })]);
    const whys = (baseline: Report) => compareWith([baseline], now).map(({ why }) => why);
    expect(whys(reportOf([line('a', { cpu: before })]))).to.deep.equal([undefined, 'not in the baseline']);
    expect(whys(reportOf(now.results, { rooms: '5' }))[0]).to.equal(
      '--rooms was 5 in the baseline, now it is not given',
    );
    expect(whys({ ...now, machine: { ...machine, cores: 4 } })[0]).to.include('4 cores');
    expect(whys({ ...now, scenario: 'fanout' })[0]).to.equal('chat is not in the baseline');
  });

  it('names each regression', () => {
    const [regressed, summary, grey] = comparisonLines(
      compareWith(
        [reportOf([line('a', { cpu: before, memory: [1] })])],
        reportOf([line('a', { cpu: [150, 154, 148, 152, 146], memory: [1] })]),
      ),
    );
    expect(regressed).to.match(
      /regressed\s+chat, a: CPU µs: 100\.00 ±4% before, 150\.00 ±3% now \(tolerance/,
    );
    expect(summary).to.equal('baseline: 0 figures within their tolerance, 1 regressed');
    expect(grey).to.include('not judged  1 figure: 1 turns');
  });

  it('is about the service: peers and limits are not compared', () => {
    const slow = [150, 154, 148, 152, 146];
    const [then, now] = [before, slow].map((cpu) => reportOf([line('nchan', { cpu }, { role: 'peer' })]));
    expect(compareWith([then as Report], now as Report)).to.deep.equal([]);
  });

  it('names only what is worse twice', () => {
    const [slow, calm] = [
      [200, 204, 198, 202, 196],
      [101, 105, 99, 103, 97],
    ];
    const then = [
      reportOf([line('a', { cpu: before, p99: before }, { part: 'x' }), line('b', { cpu: before })]),
    ];
    const of = (cpu: number[], p99: number[]) => {
      const now = reportOf([line('a', { cpu, p99 }, { part: 'x' }), line('b', { cpu: before })]);
      return { ...now, comparisons: compareWith(then, now) };
    };
    const first = of(slow, slow);
    expect(doubtsOf(first)).to.deep.include({ why: 'worse than before: a, x' });
    expect(doubtsOf(first)?.options.only).to.equal('a, x');
    expect(doubtsOf(of(calm, calm))).to.equal(undefined);
    const regressed = (again: Report) =>
      confirm(first, again).comparisons?.flatMap(({ figure, outcome }) =>
        outcome === 'regressed' ? [figure] : [],
      );
    expect(regressed(of(calm, slow))).to.deep.equal(['chat, x, a: p99 ms']);
    expect(regressed(of(calm, calm))).to.deep.equal([]);
    expect(regressed(reportOf([])), 'not measured again').to.have.length(2);
  });

  describe('in which a bound is missed that the baseline kept', () => {
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
        ...{ name: 'chat', title: 'stub', columns: ['cpu'], contenders: () => [] },
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
      expect(asked).to.deep.equal(['a bound is missed that the baseline kept']);
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
    expect(statusWith([...missed('old'), ...missed('new')])).to.equal(99);
    expect(statusWith(missed('lost', 0)), 'what must be 0').to.equal(99);
    expect(statusWith(missed('old'), [100]), 'nothing to compare').to.equal(99);
    expect(statusOf([{ ...reportOf([]), verdicts: missed('old') }]), 'without a baseline').to.equal(99);
  });

  it('uses an interval that contains the difference, and is the same in each run', () => {
    const interval = differenceInterval([150, 154, 148, 152, 146], before);
    expect(interval[0]).to.be.within(40, 50);
    expect(interval[1]).to.be.within(50, 60);
    expect(differenceInterval([150, 154, 148, 152, 146], before)).to.deep.equal(interval);
  });

  it('is refused if no load test wrote it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
    try {
      const file = join(folder, 'baseline.json');
      for (const content of ['{"a":1}', 'null', '{']) {
        writeFileSync(file, content);
        expect(() => readReports('--baseline', file), content).to.throw(InvalidArguments, /^--baseline: /);
      }
      const { status, stderr } = await runScript('scripts/load.js', ['chat', '--baseline', folder], {});
      expect(status).to.equal(2);
      expect(stderr).to.match(/^--baseline: EISDIR.*\n$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
