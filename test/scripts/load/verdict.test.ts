import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InvalidArguments } from '../../../scripts/command/run-command.js';
import {
  compareWith,
  comparisonLines,
  confirm,
  excuseMissedBefore,
  optionsAgain,
  readReports,
} from '../../../scripts/load/baseline.js';
import { optionSchema } from '../../../scripts/load/options.js';
import { statusOf } from '../../../scripts/load/outcome.js';
import type { Report } from '../../../scripts/load/report/page.js';
import type { Result } from '../../../scripts/load/scenario.js';
import { differenceInterval, summarise } from '../../../scripts/load/statistics.js';
import {
  atLeast,
  atMost,
  combine,
  medianOf,
  nothingLost,
  onlyAt,
  ratio,
  unlessUnfit,
  type Verdict,
} from '../../../scripts/load/verdict.js';
import { runScript } from '../script-runs.js';

const line = (name: string, figures: Record<string, number[]>, others: Partial<Result> = {}): Result => ({
  ...{ name, role: 'ours' },
  figures: Object.fromEntries(Object.entries(figures).map(([metric, runs]) => [metric, summarise(runs)])),
  ...others,
});

describe('verdicts of a load test', () => {
  it('judge by medians, and name what there is no figure of', () => {
    const results = [line('a', { cpu: [2, 3, 9] }), line('b', {}, { missing: 'not installed' })];
    expect(atMost('x', medianOf(results, 'a', 'cpu'), 3)).to.deep.equal({
      ...{ goal: 'x', value: 3, bound: 3, outcome: 'holds' },
    });
    expect(atLeast('x', medianOf(results, 'a', 'cpu'), 4).outcome).to.equal('misses');
    for (const [name, metric, why] of [
      ['b', 'cpu', 'b: not installed'],
      ['c', 'cpu', 'c: left out'],
      ['a', 'p99', 'a: no figure for p99 ms'],
    ] as const)
      expect(atMost('x', ratio(medianOf(results, name, metric), 1), 3)).to.include({
        ...{ outcome: 'not judged', why },
      });
    const unjudged = [
      line('void', { cpu: [2] }, { void: 'busy' }),
      line('closed', { p99: [2] }, { throughput: true }),
    ];
    expect(medianOf(unjudged, 'void', 'cpu')).to.deep.equal({ why: 'void: void, busy' });
    expect(medianOf(unjudged, 'closed', 'p99')).to.deep.equal({
      why: 'closed: no latency of throughput is judged',
    });
    const memory = [line('void', { memory: [2] }, { void: 'busy' })];
    expect(medianOf(memory, 'void', 'memory'), 'of no clock').to.equal(2);
    expect(ratio(1, 0)).to.deep.equal({ why: 'divided by zero' });
    expect(combine([1, 2, 3], Math.max)).to.equal(3);
  });

  it('judge a bound at the size that it is meant for, and no measurement of less than a second', () => {
    const missed = [atMost('x', 2, 1)];
    const judged = (args: object) => onlyAt(optionSchema.parse(args), { members: 1_000 }, missed)[0];
    expect(judged({})?.outcome).to.equal('misses');
    expect(judged({ members: '1000' })?.outcome).to.equal('misses');
    expect(judged({ members: '10' })).to.include({
      ...{ outcome: 'not judged', why: 'the bound is meant for --members 1000, not 10' },
    });
    expect(unlessUnfit(optionSchema.parse({ seconds: '0.5' }), missed)[0]?.outcome).to.equal('not judged');
    expect(unlessUnfit(optionSchema.parse({}), missed)[0]?.outcome).to.equal('misses');
  });
});

const machine = { cpu: 'test', cores: 2, memoryGiB: 1, kernel: '6', node: '20' };
const reportOf = (results: Result[], args: object = {}): Report => ({
  ...{ scenario: 'chat', at: '2026-01-01T00:00:00.000Z', machine, verdicts: [], results },
  options: optionSchema.parse(args),
  ...{ loadAverage: [0, 0], provenance: { versions: {} }, units: {} },
});

describe('what the service lost', () => {
  const others = line('peer', { lost: [9] }, { role: 'peer' });

  it('is judged by the worst turn of its lines, and not that of peers', () => {
    const verdict = (...runs: number[]) =>
      nothingLost([line('a', { lost: runs }), line('b', { lost: [0] }), others]);
    expect(verdict(0, 0, 0)).to.include({ value: 0, outcome: 'holds' });
    expect(verdict(0, 0, 2)).to.include({ value: 2, outcome: 'misses' });
    expect(nothingLost([line('a', { lost: [0] }, { void: 'busy' })]).outcome).to.equal('not judged');
    expect(nothingLost([others]).outcome).to.equal('not judged');
  });
});

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
    expect(compared([103, 103, 103, 103, 103], 'cpu', [100, 100, 100, 100, 100])?.outcome, '3 %').to.equal(
      'within',
    );
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
      [150, 154, 148, 152, 146],
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
    expect(optionsAgain(first)?.only).to.equal('a, x');
    expect(optionsAgain(of(calm, calm))).to.equal(undefined);
    const regressed = (again: Report) =>
      confirm(first, again).comparisons.flatMap(({ figure, outcome }) =>
        outcome === 'regressed' ? [figure] : [],
      );
    expect(regressed(of(calm, slow))).to.deep.equal(['chat, x, a: p99 ms']);
    expect(regressed(of(calm, calm))).to.deep.equal([]);
    expect(regressed(reportOf([])), 'not measured again').to.have.length(2);
  });

  it('fails for a bound that is missed twice', () => {
    const of = (...verdicts: Verdict[]) => ({ ...reportOf([], { only: 'a' }), verdicts });
    const [edge, lost] = [atMost('edge', 1.3, 1.25), atMost('lost', 1, 0)];
    expect(optionsAgain(of(edge))?.only, 'all lines that were asked for').to.equal('a');
    expect(optionsAgain(of(lost)), 'what must be 0').to.equal(undefined);
    const confirmed = (again: Report) => confirm(of(edge, lost), again);
    const holds = confirmed(of(atMost('edge', 1.2, 1.25), atMost('lost', 0, 0)));
    expect(holds.verdicts.map(({ excuse }) => excuse)).to.deep.equal(['held when measured again', undefined]);
    expect(optionsAgain(holds), 'a third time').to.equal(undefined);
    expect(statusOf([holds])).to.equal(99);
    expect(statusOf([confirm(of(edge), of(atMost('edge', 1.2, 1.25)))])).to.equal(0);
    for (const again of [of(edge), of(), of(atMost('edge', { why: 'void' }, 1.25))])
      expect(statusOf([confirm(of(edge), again)])).to.equal(99);
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
      return statusOf([{ ...now, verdicts: excuseMissedBefore([then], now, compareWith([then], now)) }]);
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

  it('is refused if --json did not write it', async () => {
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
