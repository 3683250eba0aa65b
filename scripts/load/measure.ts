import type { Histogram } from 'hdr-histogram-js';
import type { FlowCommand } from './clients/connection-worker.js';
import type { PoolCounts, WorkerPool } from './clients/worker-pool.js';
import { percentiles } from './latency.js';
import type { Figures } from './metrics.js';
import type { LoadOptions } from './options.js';
import { cpuMicros, privateBytes } from './process-figures.js';
import type { RunningServer } from './socket-servers.js';

type Measured = Pick<RunningServer, 'pids' | 'databasePid'>;

/** Resources used in a measurement. */
export interface Usage {
  /** CPU of each of the server's processes, µs. */
  cpus: number[];
  /** CPU of the database's process, µs. */
  databaseCpu: number | undefined;
  seconds: number;
  /** CPU of the busiest client process, % of a core. */
  clients: number;
}

/** Starts a measurement. @returns ends it */
export function startMeasuring({ pids, databasePid }: Measured, pool?: WorkerPool): () => Usage {
  pool?.busiest();
  const start = performance.now();
  const before = pids.map(cpuMicros);
  const databaseBefore = databasePid && cpuMicros(databasePid);
  return () => ({
    cpus: pids.map((pid, i) => cpuMicros(pid) - (before[i] as number)),
    databaseCpu: databasePid && cpuMicros(databasePid) - (databaseBefore as number),
    seconds: (performance.now() - start) / 1_000,
    clients: pool?.busiest() ?? 0,
  });
}

/** Total of the server's processes. */
export function cpuOf({ cpus }: Usage): number {
  return cpus.reduce((sum, cpu) => sum + cpu, 0);
}

/** Figures of so many deliveries, answers or connections. */
export function figuresOf(usage: Usage, delivered: number, latency?: Histogram): Figures {
  return {
    ...(usage.cpus.length > 0 ? { cpu: cpuOf(usage) / delivered } : {}),
    ...(usage.databaseCpu === undefined ? {} : { databaseCpu: usage.databaseCpu / delivered }),
    clients: usage.clients,
    delivered,
    perSecond: delivered / usage.seconds,
    ...(latency ? percentiles(latency) : {}),
  };
}

/** Private memory of a server's processes, bytes. */
export function memoryOf({ pids }: Pick<RunningServer, 'pids'>): number {
  return pids.reduce((sum, pid) => sum + privateBytes(pid), 0);
}

export interface Flow extends Omit<FlowCommand, 'seconds'> {
  warmUpSeconds: number;
  deliveriesPerMessage: number;
}

/**
 * Measures a flow of messages until all of them are delivered, after a warm-up.
 * @param beforeMeasuring runs between the two
 */
export async function measureFlow(
  { seconds }: LoadOptions,
  server: Measured,
  pool: WorkerPool,
  { warmUpSeconds, deliveriesPerMessage, ...flow }: Flow,
  beforeMeasuring?: () => Promise<void>,
): Promise<{ usage: Usage; counts: PoolCounts }> {
  const send = async (flowSeconds: number) => {
    await pool.flow({ ...flow, seconds: flowSeconds });
    await pool.settle((await pool.read()).sent * deliveriesPerMessage);
  };
  await send(Math.min(warmUpSeconds, seconds));
  await beforeMeasuring?.();
  await pool.reset();
  const stop = startMeasuring(server, pool);
  await send(seconds);
  return { usage: stop(), counts: await pool.read() };
}

/** Figures of a flow by its deliveries. */
export function deliveryFigures(
  { usage, counts }: { usage: Usage; counts: PoolCounts },
  deliveriesPerMessage: number,
): Figures {
  return {
    ...figuresOf(usage, counts.delivered, counts.deliveryTimes),
    lost: counts.sent * deliveriesPerMessage - counts.delivered,
  };
}
