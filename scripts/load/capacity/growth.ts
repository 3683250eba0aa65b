import { startWorkerPool, type WorkerPool } from '../clients/worker-pool.js';
import { merge, percentiles } from '../latency.js';
import { latencyFigures } from '../measure.js';
import { isLatency } from '../metrics.js';
import { type Ramp, sizeAt } from '../ramp.js';
import type { Measured, Run } from '../scenario.js';
import { specsOf } from '../scenarios/fanout.js';
import { missedOf, type Objective } from '../slo.js';
import { nowMicros } from '../stamp.js';
import type { RunningServer, Server } from '../start-server.js';
import { type CountedSecond, deliveriesOf, plotted, totalOf } from '../timeline.js';
import { preparationFor } from '../warm-up.js';
import { ROOM_RATE } from './loads.js';
import { watchUsage } from './measure-load.js';

/** Characters of a message. */
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

/** Seconds in a row in which an objective must be missed: in a single one a garbage collection may be the reason. */
const IN_A_ROW = 2;

/**
 * The size at which latencies began to miss their objectives.
 * @param seconds of all processes of clients
 * @param startedAt µs, of `nowMicros`
 * @returns undefined if they never did
 */
export function outgrownAt(
  seconds: CountedSecond[],
  objectives: Objective[],
  ramp: Ramp,
  startedAt: number,
): number | undefined {
  const latencies = objectives.filter(({ metric }) => isLatency(metric));
  const start = startedAt / 1e6;
  const numbers = [...new Set(seconds.map(({ second }) => second))].sort((a, b) => a - b);
  let inARow = 0;
  for (const number of numbers) {
    const ofSecond = seconds.filter(({ second }) => second === number);
    const arrivals = merge(ofSecond.map((one) => one.arrivals));
    const size = sizeAt(ramp, number - start);
    // Messages that nobody gets have no latency.
    const isDead = size > 0 && ofSecond.some(({ offered }) => offered > 0);
    const missed = arrivals.totalCount > 0 ? missedOf(latencies, percentiles(arrivals)).length > 0 : isDead;
    inARow = missed ? inARow + 1 : 0;
    if (inARow === IN_A_ROW) return sizeAt(ramp, number - (IN_A_ROW - 1) - start);
  }
  return undefined;
}

/** Missing deliveries of messages that were due when all connections were open. */
function missingOf(seconds: CountedSecond[], ramp: Ramp, startedAt: number): number {
  const full = seconds.filter(({ second }) => second > startedAt / 1e6 + ramp.seconds);
  const count = (key: 'offered' | 'delivered') => full.reduce((total, one) => total + one[key], 0);
  return count('offered') * ramp.to - count('delivered');
}

/** Opens what there is at the start, the senders with it. @returns the others */
async function openFirst(pool: WorkerPool, server: RunningServer, ramp: Ramp) {
  const specs = specsOf(server, ramp.to, 1);
  const isFirst = specs.map(({ sender }, i) => sender || i < ramp.from);
  await pool.openAll(
    server.target,
    specs.filter((_, i) => isFirst[i]),
  );
  return specs.filter((_, i) => !isFirst[i]);
}

/** One room whose sockets grow while it gets messages, and then as long as a measurement with all of them. */
export async function measureGrowth(
  server: Server,
  ramp: Ramp,
  objectives: Objective[],
  run: Run,
): Promise<Measured> {
  const { group, options } = run;
  const running = await server.start(run, 1);
  const pool = await startWorkerPool(group, options.clients);
  const rest = await openFirst(pool, running, ramp);
  const flow = { rate: ROOM_RATE, length: LENGTH };
  await pool.flow({ ...flow, seconds: preparationFor(options, WARM_UP_SECONDS) });
  const loaded = { ...running, names: [server.name], metricsPort: running.httpPort };
  const stop = await watchUsage(loaded, pool.pids);
  const seconds = ramp.seconds + options.seconds;
  await pool.reset(seconds);
  const startedAt = nowMicros();
  const [{ failed, reason }] = await Promise.all([
    pool.open(running.target, rest, { overSeconds: ramp.seconds }),
    pool.flow({ ...flow, seconds }),
  ]);
  const { usage, wall } = await stop();
  // What is expected depends on when each connection was opened: until nothing comes any more.
  await pool.settle(Number.POSITIVE_INFINITY);
  const counts = await pool.read();
  const timeline = await pool.timeline();
  const outgrown = outgrownAt(timeline, objectives, ramp, startedAt);
  const { late } = totalOf(timeline);
  const lost = missingOf(timeline, ramp, startedAt) + failed + counts.closed;
  const notes = [
    ...(outgrown === undefined ? [] : [`from ${outgrown.toLocaleString('en')} on: ${wall(late)}`]),
    ...(failed > 0 ? [`${failed} connections failed: ${reason}`] : []),
  ];
  const { clients, others, steal } = usage;
  return {
    ...{ carried: outgrown ?? ramp.to, delivered: counts.delivered, lost, late },
    ...{ clients, others, steal },
    ...latencyFigures(counts.deliveryTimes),
    timeline: plotted(deliveriesOf(timeline, ramp.to)),
    ...(notes.length > 0 && { note: notes.join('; ') }),
  };
}
