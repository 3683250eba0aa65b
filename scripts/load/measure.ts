import type { Histogram } from 'hdr-histogram-js';
import type { FlowCommand } from './clients/connection-worker.js';
import type { PoolCounts, WorkerPool } from './clients/worker-pool.js';
import { merge, percentiles } from './latency.js';
import type { Figures } from './metrics.js';
import type { LoadOptions } from './options.js';
import { cpuMicros, privateBytes } from './process-figures.js';
import type { ManagedProcess } from './process-group.js';
import type { RunningServer } from './start-server.js';

type Measured = Pick<RunningServer, 'pids' | 'databasePid'>;

/** Resources used in a measurement. */
export type Usage = ReturnType<ReturnType<typeof startMeasuring>>;

/** @returns CPU of each process since the call, µs */
function measureCpu(pids: number[]): () => number[] {
  const before = pids.map(cpuMicros);
  return () => pids.map((pid, i) => cpuMicros(pid) - (before[i] as number));
}

export const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** Starts a measurement. @param clientPids processes of clients. @returns ends it */
export function startMeasuring({ pids, databasePid }: Measured, clientPids: number[] = []) {
  const start = performance.now();
  const server = measureCpu(pids);
  const database = measureCpu(databasePid === undefined ? [] : [databasePid]);
  const clients = measureCpu(clientPids);
  return () => {
    const seconds = (performance.now() - start) / 1_000;
    return {
      seconds,
      /** CPU of each of the server's processes, µs. */
      cpus: server(),
      /** CPU of the database's process, µs. */
      databaseCpu: database()[0],
      /** CPU of the busiest client process, % of a core. */
      clients: Math.max(0, ...clients()) / seconds / 10_000,
    };
  };
}

/** Figures per delivery, answer or connection. @param delivered how many there were */
export function figuresOf(usage: Usage, delivered: number, latency?: Histogram): Figures {
  const { cpus, databaseCpu, seconds, clients } = usage;
  return {
    cpu: cpus.length > 0 ? sum(cpus) / delivered : undefined,
    databaseCpu: databaseCpu && databaseCpu / delivered,
    ...{ clients, delivered, perSecond: delivered / seconds },
    ...(latency && percentiles(latency)),
  };
}

/** Private memory of a server's processes, bytes. */
export function memoryOf({ pids }: Measured): number {
  return sum(pids.map(privateBytes));
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
): Promise<{ usage: Usage; counts: PoolCounts; figures: Figures }> {
  const send = async (flowSeconds: number) => {
    await pool.flow({ ...flow, seconds: flowSeconds });
    await pool.settle((await pool.read()).sent * deliveriesPerMessage);
  };
  await send(Math.min(warmUpSeconds, seconds));
  await beforeMeasuring?.();
  await pool.reset();
  const stop = startMeasuring(server, pool.pids);
  await send(seconds);
  const usage = stop();
  const counts = await pool.read();
  const lost = counts.sent * deliveriesPerMessage - counts.delivered;
  return { usage, counts, figures: { ...figuresOf(usage, counts.delivered, counts.deliveryTimes), lost } };
}

/** A worker's result of one command. */
export interface WorkResult {
  operations: number;
  failed?: number;
  /** Encoded histogram. */
  times?: string;
}

/** Measures what a server uses while a worker works, after a warm-up. @param command without its `seconds` */
export async function measureWork(
  { seconds }: LoadOptions,
  server: Measured,
  worker: ManagedProcess,
  command: object,
  { warmUpSeconds, clientPids = [] as number[] }: { warmUpSeconds: number; clientPids?: number[] },
): Promise<Figures> {
  const work = (length: number) => worker.request<WorkResult>({ ...command, seconds: length }, length);
  await work(Math.min(warmUpSeconds, seconds));
  const stop = startMeasuring(server, clientPids);
  const { operations, failed = 0, times } = await work(seconds);
  const usage = stop();
  if (operations === 0) throw new Error(`${worker.name}: no operation succeeded`);
  return { ...figuresOf(usage, operations, times ? merge([times]) : undefined), lost: failed };
}
