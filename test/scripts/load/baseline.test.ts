import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InvalidArguments } from '../../../scripts/command/run-command.js';
import {
  type Comparison,
  compareWith as compareHeeding,
  comparisonLines,
  confirm,
  doubtsOf,
  readReports,
} from '../../../scripts/load/baseline.js';
import { optionSchema, scenarioOptions } from '../../../scripts/load/options.js';
import { renewBaseline, statusOf } from '../../../scripts/load/outcome.js';
import type { Report } from '../../../scripts/load/report.js';
import { differenceInterval } from '../../../scripts/load/statistics.js';
import { atMost } from '../../../scripts/load/verdict.js';
import { runScript } from '../script-runs.js';
import { line, machine, reportOf } from './results.js';

const compareWith = (baseline: Report[], now: Report) => compareHeeding(baseline, now, [...scenarioOptions]);

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
    // Some turns of the reference work take half as long again, in whatever run: by their median the machine was faster, or slower.
    const between = (earlier: number[], reference: number[], cpu = before) =>
      compareWith(
        [reportOf([line('a', { cpu: before, reference: earlier })])],
        reportOf([line('a', { cpu, reference })]),
      )[0];
    expect(between([10, 15, 15], [10, 10, 15])).to.include({ outcome: 'within', pace: 1 });
    expect(between([10, 10, 15], [10, 15, 15], twice)).to.include({ outcome: 'regressed', pace: 1 });
    expect(between([], [10])?.pace, 'not timed before').to.equal(1);
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

  it('is not compared with a short run', () => {
    const results = [line('a', { cpu: before })];
    const why = (args: object, earlier: object) =>
      compareWith([reportOf(results, earlier)], reportOf(results, { baseline: 'file', ...args }))[0]?.why;
    const seconds = { seconds: '1' };
    expect(why(seconds, seconds)).to.equal(
      'only one of both is a short run (--seconds 1 without --save-baseline)',
    );
    expect(why(seconds, { ...seconds, 'save-baseline': 'file' })).to.equal(undefined);
    expect(why({}, {}), 'of the default length').to.equal(undefined);
  });

  it('needs five turns, and a second of each', () => {
    for (const option of ['baseline', 'save-baseline'])
      expect(
        optionSchema.safeParse({ [option]: 'file', runs: '4', seconds: '0.9' }).error?.issues,
        option,
      ).to.deep.include.members([
        {
          code: 'custom',
          path: ['runs'],
          message: 'must be at least 5 with --baseline or --save-baseline',
        },
        {
          code: 'custom',
          path: ['seconds'],
          message: 'must be at least 1 with --baseline or --save-baseline',
        },
      ]);
    expect(optionSchema.parse({ runs: '1', seconds: '0.1' })).to.include({ runs: 1, seconds: 0.1 });
  });

  it('ignores options that the scenario does not heed', () => {
    const [now, then] = [{}, { rooms: '5' }].map((args) => reportOf([line('a', { cpu: before })], args));
    expect(compareHeeding([then as Report], now as Report, ['members'])[0]?.outcome).to.equal('within');
  });

  it('counts the lines that are gone, unless only some were asked for', () => {
    const then = [reportOf([line('a', { cpu: before }), line('b', { cpu: before })])];
    const of = (args: object) => compareWith(then, reportOf([line('a', { cpu: before })], args));
    expect(of({}).map(({ line, why }) => [line, why])).to.deep.equal([
      ['a', undefined],
      ['b', 'not a line any more'],
    ]);
    expect(of({ only: 'a' })).to.have.length(1);
  });

  it('fails if nothing can be compared, as after an upgrade of Node', () => {
    const results = [line('a', { cpu: before })];
    const of = (node: string) => {
      const now = { ...reportOf(results), machine: { ...machine, node } };
      return { ...now, comparisons: compareWith([reportOf(results)], now) };
    };
    expect(statusOf([of('21')])).to.equal(2);
    expect(statusOf([of('21'), of(machine.node)]), 'only one of two scenarios').to.equal(0);
  });

  it('becomes a new baseline unless it fails', () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
    try {
      const file = join(folder, 'baseline.json');
      const args = optionSchema.parse({ baseline: file, 'save-baseline': file });
      const results = [line('a', { cpu: before })];
      const report = {
        ...reportOf(results),
        comparisons: compareWith([reportOf(results)], reportOf(results)),
      };
      renewBaseline([{ ...report, verdicts: [atMost('x', 2, 1)] }], args);
      expect(existsSync(file), 'of a failed run').to.equal(false);
      renewBaseline([report], args);
      expect(readReports('--baseline', file)).to.have.length(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
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

  it('uses an interval that contains the difference, and is the same in each run', () => {
    const interval = differenceInterval([150, 154, 148, 152, 146], before);
    expect(interval[0]).to.be.within(40, 50);
    expect(interval[1]).to.be.within(50, 60);
    expect(differenceInterval([150, 154, 148, 152, 146], before)).to.deep.equal(interval);
  });

  it('is refused if no load test wrote it, or nothing can be compared with it', async () => {
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
      writeFileSync(file, JSON.stringify(reportOf([line('a', { cpu: before })], { rooms: '5' })));
      expect(await runScript('scripts/load.js', ['chat', '--baseline', file], {})).to.include({
        status: 2,
        stderr: '--baseline: nothing can be compared: --rooms was 5 in the baseline, now it is not given\n',
      });
      writeFileSync(file, JSON.stringify(reportOf([line('a', { cpu: [100] })])));
      expect(await runScript('scripts/load.js', ['chat', '--baseline', file], {})).to.include({
        status: 2,
        stderr: '--baseline: nothing can be compared: chat has 1 of at least 5 turns in the baseline\n',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
