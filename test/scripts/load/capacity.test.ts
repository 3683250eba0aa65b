import { expect } from 'chai';
import { outgrownAt } from '../../../scripts/load/capacity/growth.js';
import { mostOf } from '../../../scripts/load/capacity/most-connections.js';
import { findLargest } from '../../../scripts/load/capacity/search.js';
import { type Used, wallOf } from '../../../scripts/load/capacity/wall.js';
import { createLatencies, encode, record } from '../../../scripts/load/latency.js';
import { optionSchema } from '../../../scripts/load/options.js';
import { parseRamp, sizeAt } from '../../../scripts/load/ramp.js';
import { missedOf, type Objective, parseSlo } from '../../../scripts/load/slo.js';
import type { CountedSecond } from '../../../scripts/load/timeline.js';
import { runScript } from '../script-runs.js';

const objectives = (text: string) => parseSlo(text) as Objective[];

describe('objectives of a load (--slo)', () => {
  it('are latencies and counts, separated by commas', () => {
    expect(parseSlo('p99<200ms, p99.9<=1.5s,lost=0,refused<10')).to.deep.equal([
      { text: 'p99<200ms', metric: 'p99', bound: 200, below: true },
      { text: 'p99.9<=1.5s', metric: 'p999', bound: 1_500, below: false },
      { text: 'lost=0', metric: 'lost', bound: 0, below: false },
      { text: 'refused<10', metric: 'refused', bound: 10, below: true },
    ]);
  });

  for (const [text, fault] of [
    ['', '"" is not of the form p99<200ms or lost=0'],
    ['p99<200ms,', '"" is not of the form p99<200ms or lost=0'],
    ['p99>200ms', '"p99>200ms" is not of the form p99<200ms or lost=0'],
    ['p95<200ms', '"p95<200ms": p95 is none of p50, p99, p99.9, lost, refused'],
    ['constructor=0', '"constructor=0": constructor is none of p50, p99, p99.9, lost, refused'],
    ['p99<200', '"p99<200": a latency needs ms or s'],
    ['p99<200m', '"p99<200m": a latency needs ms or s'],
    ['p99=200ms', '"p99=200ms": a latency needs < or <='],
    ['lost<1ms', '"lost<1ms": lost is a number without a unit'],
  ] as const)
    it(`cannot be "${text}"`, () => {
      expect(parseSlo(text)).to.equal(fault);
    });

  it('are missed by figures at or above their bounds, and by figures that there are none of', () => {
    const missed = (figures: object) =>
      missedOf(objectives('p50<=5ms,p99<200ms,lost=0,refused=0'), figures).map(({ text }) => text);
    expect(missed({ p50: 5, p99: 199, lost: 0 })).to.deep.equal([]);
    expect(missed({ p50: 6, p99: 200, lost: 1, refused: 2 })).to.deep.equal([
      ...['p50<=5ms', 'p99<200ms', 'lost=0', 'refused=0'],
    ]);
    expect(missed({})).to.deep.equal(['p50<=5ms', 'p99<200ms', 'lost=0']);
  });
});

describe('connections that grow (--ramp)', () => {
  it('have a first and a last number and a time', () => {
    expect(parseRamp('0:5k:60s')).to.deep.equal({ from: 0, to: 5_000, seconds: 60 });
    expect(parseRamp('10:1.5k:2m')).to.deep.equal({ from: 10, to: 1_500, seconds: 120 });
    const ramp = { from: 100, to: 300, seconds: 10 };
    expect([-1, 0, 5, 10, 11].map((elapsed) => sizeAt(ramp, elapsed))).to.deep.equal([
      ...[100, 100, 200, 300, 300],
    ]);
  });

  for (const [text, fault] of [
    ['5k', /^must be of the form 0:5k:60s/],
    ['0:5k:60', /^must be of the form 0:5k:60s/],
    ['0:5M:60s', /^must be of the form 0:5k:60s/],
    ['5k:5k:60s', /^must grow/],
    ['0:5k:0s', /^must take some time/],
  ] as const)
    it(`cannot be "${text}"`, () => {
      expect(parseRamp(text)).to.match(fault);
    });

  it('outgrow a latency when it is missed in two seconds in a row', () => {
    /** @param ms latency; 0 if nothing arrives */
    const second = (number: number, ms: number): CountedSecond => {
      const arrivals = createLatencies(2);
      if (ms > 0) record(arrivals, ms * 1_000);
      const counts = { offered: 1, served: 0, refused: 0, failed: 0, delivered: 1 };
      const none = encode(createLatencies(2));
      return { second: number, ...counts, times: none, late: none, arrivals: encode(arrivals) };
    };
    const ramp = { from: 0, to: 100, seconds: 10 };
    const grow = (...times: number[]) => {
      const seconds = times.map((ms, i) => second(i + 50, ms));
      return outgrownAt(seconds, objectives('p99<200ms,lost=0'), ramp, 50e6);
    };
    expect(grow(1, 300, 1, 1, 300, 1)).to.equal(undefined);
    expect(grow(1, 300, 1, 1, 300, 301)).to.equal(40);
    expect(grow(0, 1, 1, 0, 0, 0), 'nothing arrives any more').to.equal(30);
  });
});

describe('the search for the largest load', () => {
  /** @returns what was found, and the sizes tried. @param carried the largest that holds */
  async function search(first: number, carried: number, most = Number.MAX_SAFE_INTEGER) {
    const tried: number[] = [];
    const { held, failed } = await findLargest(first, most, async (size) => {
      tried.push(size);
      return { size, holds: size <= carried };
    });
    return { tried, held: held?.size, failed: failed?.size };
  }

  it('doubles, then bisects three times', async () => {
    expect(await search(1_000, 5_300)).to.deep.equal({
      tried: [1_000, 2_000, 4_000, 8_000, 6_000, 5_000, 5_500],
      ...{ held: 5_000, failed: 5_500 },
    });
  });

  it('ends with what this machine can try', async () => {
    expect(await search(1_000, 9_999, 2_500)).to.deep.equal({
      tried: [1_000, 2_000, 2_500],
      ...{ held: 2_500, failed: undefined },
    });
    expect(await search(1_000, 9_999, 500)).to.include({ held: 500 });
  });

  it('halves until a size holds, if the first one does not', async () => {
    expect(await search(1_000, 10)).to.deep.equal({
      tried: [1_000, 500, 250, 125, 62, 31, 15, 7, 11, 9, 10],
      ...{ held: 10, failed: 11 },
    });
    expect(await search(4, 0)).to.deep.equal({ tried: [4, 2, 1], held: undefined, failed: 1 });
  });

  it('ends between neighbours', async () => {
    expect(await search(1, 1)).to.deep.equal({ tried: [1, 2], held: 1, failed: 2 });
  });
});

describe('the wall of a load', () => {
  const idle: Used = {
    processes: [
      ['the service', 40],
      ['database', 30],
    ],
    ...{ clients: 20, late: 1, machine: 60, loop: 35, memoryLeft: 50 },
  };

  for (const [used, wall] of [
    [{}, 'waiting: no process is busy'],
    [{ memoryLeft: 2 }, "memory (2 % of the machine's left)"],
    [{ clients: 95, machine: 99 }, 'CPU of the clients'],
    [{ processes: [['the service', 97]], machine: 99, loop: 99 }, 'CPU of the service'],
    [
      {
        processes: [
          ['a', 10],
          ['database', 93],
        ],
      },
      'CPU of database',
    ],
    [{ loop: 96 }, 'event loop lag'],
    [{ machine: 97 }, "the machine's CPU, shared with the clients"],
    [{ late: 80 }, 'clients, that sent 80 ms late'],
  ] as [Partial<Used>, string][])
    it(`is ${wall}`, () => {
      expect(wallOf({ ...idle, ...used })).to.match(new RegExp(`^${wall.replace(/[()]/g, '\\$&')} \\(`));
    });

  it('comes with all that was used', () => {
    expect(wallOf(idle)).to.equal(
      'waiting: no process is busy (the service 40 %, database 30 %, event loop 35 %, clients 20 %, machine 60 %)',
    );
  });

  it('may be the ports or the files of this machine', () => {
    const files = (count: number) =>
      `Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  ${count}  files\n`;
    expect(mostOf('32768\t60999\n', files(20_000))).to.deep.equal({
      ...{ count: 19_800, why: 'open files of a process (20000)' },
    });
    expect(mostOf('32768\t60999\n', files(1_000_000))).to.deep.equal({
      ...{ count: 28_232, why: "the clients' local ports (28232)" },
    });
  });
});

describe('npm run load -- capacity', function () {
  this.timeout(60_000);

  it('names wrong objectives and ramps with their options', async () => {
    const wrong = ['capacity', '--slo', 'p99<200', '--ramp', 'up'];
    const { status, stderr } = await runScript('scripts/load.js', wrong, {});
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr:
        '--slo: "p99<200": a latency needs ms or s\n--ramp: must be of the form 0:5k:60s (from, to, time in ms, s or m)\n',
    });
    expect(optionSchema.parse({ slo: 'p50<1ms' }).slo).to.equal('p50<1ms');
  });

  it('names what the smallest size ran into, if not even that holds', async () => {
    const { status, stdout } = await runScript(
      'scripts/load.js',
      [
        ...['capacity', '--slo', 'p50<0ms', '--members', '2', '--seconds', '0.2', '--runs', '1'],
        ...['--clients', '1', '--only', 'plain ws, members'],
      ],
      {},
    );
    expect(status).to.equal(0);
    expect(stdout).to.match(
      /plain ws \(members of one room.*\): 1, p50<0ms is [\d.]+ ms: .* \(plain ws \d+ %, /,
    );
  });
});
