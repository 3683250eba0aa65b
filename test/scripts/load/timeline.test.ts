import { expect } from 'chai';
import { timelinePlot } from '../../../scripts/load/report/plots.js';
import { limitedByClients, type Result } from '../../../scripts/load/scenario.js';
import { nowMicros } from '../../../scripts/load/stamp.js';
import { summarise } from '../../../scripts/load/statistics.js';
import { plotted, Timeline, totalOf } from '../../../scripts/load/timeline.js';

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

describe('a line limited by its clients', () => {
  const line = (figures: Record<string, number>): Result => ({
    name: 'line',
    role: 'ours',
    figures: Object.fromEntries(
      Object.entries(figures).map(([metric, value]) => [metric, summarise([value])]),
    ),
  });

  it('is one whose clients had no processor left, or sent late by more than half of the latency', () => {
    expect(limitedByClients(line({ clients: 50, late: 2, p99: 5 }))).to.equal(false);
    expect(limitedByClients(line({ clients: 95, late: 2, p99: 5 }))).to.equal(true);
    expect(limitedByClients(line({ clients: 50, late: 3, p99: 5 }))).to.equal(true);
  });
});
