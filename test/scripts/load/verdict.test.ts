import { expect } from 'chai';
import { optionSchema } from '../../../scripts/load/options.js';
import { fanout } from '../../../scripts/load/scenarios/fanout.js';
import {
  atLeast,
  atMost,
  combine,
  medianOf,
  nothingLost,
  onlyAt,
  onlyFrom,
  ratio,
  unlessUnfit,
} from '../../../scripts/load/verdict.js';
import { line, resultsOf } from './results.js';

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

  it('judge a bound at the size that it is meant for', () => {
    const missed = [atMost('x', 2, 1)];
    const judged = (args: object) => onlyAt(optionSchema.parse(args), { members: 1_000 }, missed)[0];
    expect(judged({})?.outcome).to.equal('misses');
    expect(judged({ members: '1000' })?.outcome).to.equal('misses');
    expect(judged({ members: '10' })).to.include({
      ...{ outcome: 'not judged', why: 'the bound is meant for --members 1000, not 10' },
    });
    const later = (args: object) => onlyFrom(optionSchema.parse(args), 'minutes', 2, missed)[0];
    expect(later({})?.outcome).to.equal('misses');
    expect(later({ minutes: '2' })?.outcome).to.equal('misses');
    expect(later({ minutes: '1' })).to.include({
      ...{ outcome: 'not judged', why: 'the bound is meant for --minutes 2 or more, not 1' },
    });
  });

  it('judge nothing of a short run but what must be 0, unless builds are compared', () => {
    const missed = [atMost('x', 2, 1), atMost('lost', 2, 0)];
    const outcomes = (args: object) =>
      unlessUnfit(optionSchema.parse(args), missed).map(({ outcome }) => outcome);
    for (const args of [{}, { seconds: '8' }, { seconds: '20' }])
      expect(outcomes(args), JSON.stringify(args)).to.deep.equal(['misses', 'misses']);
    for (const seconds of ['0.5', '1', '7.9'])
      expect(outcomes({ seconds }), seconds).to.deep.equal(['not judged', 'misses']);
    expect(unlessUnfit(optionSchema.parse({ seconds: '1' }), missed)[0]?.why).to.equal(
      '1 s are too short: judged from --seconds 8 on, or with --save-baseline or --baseline',
    );
    for (const option of ['baseline', 'save-baseline'])
      expect(outcomes({ seconds: '1', [option]: 'file' }), option).to.deep.equal(['misses', 'misses']);
  });
});

describe('bounds of fanout', () => {
  it('are judged at a --rate only of rooms that have it without, too', () => {
    const options = optionSchema.parse({ rate: '100' });
    const judged = fanout
      .verdicts(resultsOf(fanout, options), options)
      .filter(({ outcome }) => outcome !== 'not judged')
      .map(({ goal }) => goal);
    expect(judged.filter((goal) => !goal.startsWith('1,000 sockets'))).to.deep.equal([]);
    expect(judged).to.have.length(7);
  });
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
