import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { othersBetween, sampleMachine } from '../../../scripts/load/machine-load.js';
import { timelinePlot } from '../../../scripts/load/report/plots.js';
import { resultOf } from '../../../scripts/load/run-scenario.js';
import { nowMicros } from '../../../scripts/load/stamp.js';
import { deliveriesOf, plotted, Timeline, totalOf } from '../../../scripts/load/timeline.js';
import { voidReason } from '../../../scripts/load/void-turn.js';

/** A second ago, at the beginning of a second. µs */
const base = () => Math.floor(nowMicros() / 1e6 - 4) * 1e6;

describe('the timeline of a load', () => {
  it('counts what was due in each second, over all processes of clients, without the first and the last one', () => {
    const [start, one, other] = [base(), new Timeline(), new Timeline()];
    for (const timeline of [one, other])
      for (const second of [0, 1, 2, 3]) timeline.offered(start + second * 1e6);
    one.ended(start + 1e6, 'served');
    other.ended(start + 1e6, 'refused');
    one.ended(start + 2e6, 'failed');
    const seconds = plotted([...one.read(), ...other.read()]);
    expect(seconds.map(({ offered, served, refused }) => [offered, served, refused])).to.deep.equal([
      [2, 1, 1],
      [2, 0, 0],
    ]);
    expect(seconds[0]?.p99, 'ms since it was due').to.be.within(2_000, 4_500);
    expect(seconds[1]).to.not.have.property('p99');
  });

  it('totals outcomes, latencies since they were due, and how late the clients sent', () => {
    const [start, timeline] = [nowMicros(), new Timeline()];
    for (let i = 0; i < 4; i += 1) timeline.offered(start - 20_000);
    for (const outcome of ['served', 'served', 'refused'] as const) timeline.ended(start - 20_000, outcome);
    const { served, refused, failed, times, late } = totalOf(timeline.read());
    expect({ served, refused, failed }).to.deep.equal({ served: 2, refused: 1, failed: 1 });
    expect(times.totalCount).to.equal(2);
    expect(late).to.be.within(19, 1_000);
    timeline.reset();
    expect(timeline.read()).to.deep.equal([]);
  });

  it('is drawn, with gaps where nothing was served', () => {
    const seconds = [
      { offered: 10, served: 10, refused: 0, p99: 4 },
      { offered: 20, served: 0, refused: 20 },
      { offered: 20, served: 10, refused: 10, p99: 8 },
    ];
    const curves = [...timelinePlot(seconds).matchAll(/<path d="([^"]+)" class="curve (\w+)"/g)];
    expect(curves.map(([, , kind]) => kind)).to.deep.equal(['offered', 'served', 'refused', 'served']);
    expect(curves[3]?.[1]?.match(/[ML]/g)?.join(''), 'of latency').to.equal('MM');
  });
});

describe('deliveries of each second', () => {
  it('are compared with what was due, however many a message has', () => {
    const [start, timeline] = [base(), new Timeline()];
    for (const second of [0, 1, 2]) {
      timeline.offered(start + second * 1e6);
      timeline.delivered(start + second * 1e6, start + second * 1e6 + 5_000);
    }
    const [second, ...others] = plotted(deliveriesOf(timeline.read(), 2));
    expect(second).to.include({ offered: 2, served: 1, refused: 0 });
    expect(second?.p99, 'ms').to.be.closeTo(5, 0.1);
    expect(others).to.deep.equal([]);
  });
});

describe('a turn is void', () => {
  const good = { delivered: 10, lost: 0, clients: 50, late: 2, p99: 5, others: 3, steal: 0 };
  const cases: [figures: object, reason: RegExp | undefined][] = [
    [{}, undefined],
    [{ clients: 95 }, /^clients were the bottleneck \(95 %/],
    [{ late: 3 }, /^clients sent late \(p99 3\.0 ms, of a latency of 5\.0 ms/],
    [{ late: 1.5, p99: 2 }, undefined],
    [{ lost: -4 }, /^4 more delivered than sent/],
    [{ delivered: 0 }, /^nothing was published/],
    [{ delivered: 0, lost: 10 }, undefined],
    [{ delivered: 0, refused: 10 }, undefined],
    [{ others: 30 }, /^the machine was busy with other programs \(30 %/],
    [{ steal: 8 }, /^the hypervisor took CPU \(8 %/],
  ];
  for (const [figures, reason] of cases)
    it(`${reason ? '' : 'not '}with ${JSON.stringify(figures)}`, () => {
      const found = voidReason({ ...good, ...figures });
      if (reason) expect(found).to.match(reason);
      else expect(found).to.equal(undefined);
    });
});

describe('figures of void turns', () => {
  const line = { name: 'this service', role: 'ours' } as const;
  const turns = [
    { delivered: 1, cpu: 1, memory: 10 },
    { delivered: 1, cpu: 9, memory: 30, others: 50 },
  ];

  it('do not count, but those of memory do', () => {
    const { figures, voided, ...result } = resultOf(line, turns, undefined);
    expect(figures.cpu?.runs).to.deep.equal([1]);
    expect(figures.memory?.runs).to.deep.equal([10, 30]);
    expect(voided).to.have.length(1);
    expect(result).to.not.have.property('void');
  });

  it('are shown if no turn counts', () => {
    const { figures, void: reason } = resultOf(line, turns.slice(1), undefined);
    expect(figures.cpu?.runs).to.deep.equal([9]);
    expect(reason).to.match(/^the machine was busy/);
  });
});

describe('the load of the machine', () => {
  it('by others is what is not ours', () => {
    const before = { total: 1_000, busy: 500, steal: 10, own: 100 };
    const after = { total: 1_200, busy: 600, steal: 20, own: 140 };
    expect(othersBetween(before, after)).to.deep.equal({ busy: 50, others: 30, steal: 5 });
  });

  it('counts processes that have ended as ours', async () => {
    const before = sampleMachine();
    const burn = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 200_000);';
    await once(spawn(process.execPath, ['-e', burn]), 'exit');
    const after = sampleMachine();
    expect(after.own - before.own, 'ticks of 10 ms').to.be.at.least(15);
    expect(after.busy - before.busy).to.be.at.least(15);
  });
});
