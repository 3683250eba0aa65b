import type { Histogram } from 'hdr-histogram-js';
import type { FlowCommand } from './clients/connection-worker.js';
import type { PoolCounts, WorkerPool } from './clients/worker-pool.js';
import { merge, percentiles } from './latency.js';
import { othersBetween, sampleMachine } from './machine-load.js';
import type { LoadOptions } from './options.js';
import { cpuMicros, privateBytes, residentBytes } from './process-figures.js';
import type { ManagedProcess } from './process-group.js';
import type { Measured } from './scenario.js';
import { readStages, type StageCounts, stagesBetween } from './stages.js';
import type { RunningServer } from './start-server.js';
import { preparationFor } from './warm-up.js';

type Processes = Pick<RunningServer, 'pids' | 'databasePid' | 'httpPort'>;

/** Resources used in a measurement. */
export type Usage = ReturnType<ReturnType<typeof startMeasuring>>;

/** @returns CPU of each process since the call, µs */
function measureCpu(pids: number[]): () => number[] {
  const before = pids.map(cpuMicros);
  return () => pids.map((pid, i) => cpuMicros(pid) - (before[i] as number));
}

export const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** Starts a measurement. @param clientPids processes of clients. @returns ends it */
export function startMeasuring({ pids, databasePid }: Processes, clientPids: number[] = []) {
  const start = performance.now();
  const server = measureCpu(pids);
  const database = measureCpu(databasePid === undefined ? [] : [databasePid]);
  const clients = measureCpu(clientPids);
  const machine = sampleMachine();
  return () => {
    const seconds = (performance.now() - start) / 1_000;
    return {
      ...othersBetween(machine, sampleMachine()),
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

/** p99 of how late the clients sent, ms. */
export const lateness = (late: Histogram) => percentiles(late).p99 ?? 0;

/** Figures per delivery, answer or connection. @param delivered how many there were */
export function figuresOf(usage: Usage, delivered: number, latency?: Histogram): Measured {
  const { cpus, databaseCpu, seconds, clients, others, steal } = usage;
  const each = (cpu: number) => (delivered > 0 ? cpu / delivered : undefined);
  return {
    cpu: cpus.length > 0 ? each(sum(cpus)) : undefined,
    databaseCpu: databaseCpu && each(databaseCpu),
    ...{ clients, others, steal, delivered, perSecond: delivered / seconds },
    ...(latency && percentiles(latency)),
  };
}

/** Private memory of a server's processes, bytes. */
export function memoryOf({ pids }: Processes): number {
  return sum(pids.map(privateBytes));
}

/** Resident memory of a server's processes, bytes. */
export function residentOf({ pids }: Processes): number {
  return sum(pids.map(residentBytes));
}

/** With `--stages`, reads those of the service so far. */
async function stagesNow({ stages }: LoadOptions, { httpPort }: Processes): Promise<StageCounts | undefined> {
  return stages && httpPort !== undefined ? readStages(httpPort) : undefined;
}

export interface Flow extends Omit<FlowCommand, 'seconds'> {
  warmUpSeconds: number;
  deliveriesPerMessage: number;
}

/**
 * Measures a flow of messages until all of them are delivered, after a warm-up.
 * @param beforeMeasuring runs between the two
 * @throws Error if every message was refused
 */
export async function measureFlow(
  options: LoadOptions,
  server: Processes,
  pool: WorkerPool,
  { warmUpSeconds, deliveriesPerMessage, ...flow }: Flow,
  beforeMeasuring?: () => Promise<void>,
): Promise<{ usage: Usage; counts: PoolCounts; figures: Measured }> {
  const send = async (flowSeconds: number, onArrival?: () => void) => {
    await pool.flow({ ...flow, seconds: flowSeconds });
    await pool.settle((await pool.read()).sent * deliveriesPerMessage, onArrival);
  };
  await send(preparationFor(options, warmUpSeconds));
  const { closed: closedBefore } = await pool.read();
  await beforeMeasuring?.();
  const stagesBefore = await stagesNow(options, server);
  const stop = startMeasuring(server, pool.pids);
  await pool.reset(options.seconds);
  let usage = stop();
  // Until the last delivery: the wait for those that never come is no time of the server's.
  await send(options.seconds, () => {
    usage = stop();
  });
  const stages = await stagesNow(options, server);
  const counts = await pool.read();
  const { sent, refused } = counts;
  if (sent > 0 && refused === sent) throw new Error('every message was refused');
  const closed = closedBefore + counts.closed;
  const lost = (sent - refused) * deliveriesPerMessage - counts.delivered;
  const figures = {
    ...figuresOf(usage, counts.delivered, counts.deliveryTimes),
    ...{ lost, refused, repeated: pool.repeated, afterEnd: counts.deliveredLate },
    ...(closed > 0 && { note: `the server closed ${closed} connections: are its rate limits on?` }),
    ...(flow.rate !== undefined && { late: lateness(counts.late) }),
    ...(stagesBefore && stages && { stages: stagesBetween(stagesBefore, stages) }),
  };
  return { usage, counts, figures };
}

/** A worker's result of one command. */
export interface WorkResult {
  operations: number;
  failed?: number;
  /** Encoded histogram. */
  times?: string;
  /** Encoded histogram: µs by which operations were sent late. */
  late?: string;
}

/** Measures what a server uses while a worker works, after a warm-up. @param command without its `seconds` */
export async function measureWork(
  options: LoadOptions,
  server: Processes,
  worker: ManagedProcess,
  command: object,
  { warmUpSeconds, clientPids = [] as number[] }: { warmUpSeconds: number; clientPids?: number[] },
): Promise<Measured> {
  const work = (length: number) => worker.request<WorkResult>({ ...command, seconds: length }, length);
  await work(preparationFor(options, warmUpSeconds));
  const stop = startMeasuring(server, clientPids);
  const { operations, failed = 0, times, late } = await work(options.seconds);
  const usage = stop();
  if (operations === 0) throw new Error(`${worker.name}: no operation succeeded`);
  return {
    ...figuresOf(usage, operations, times ? merge([times]) : undefined),
    lost: failed,
    ...(late && { late: lateness(merge([late])) }),
  };
}
