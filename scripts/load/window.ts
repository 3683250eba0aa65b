import type { WorkerPool } from './clients/worker-pool.js';
import type { Figures } from './metrics.js';
import { cpuOfAll, privateBytes } from './process-figures.js';
import type { Served } from './socket-servers.js';

/** What was used between the opening of a window and its closing. */
export interface Used {
  /** CPU of the server's processes, and of the database's, in µs. */
  cpu: number | undefined;
  databaseCpu: number | undefined;
  seconds: number;
  /** CPU of the busiest client process, % of a core. */
  clients: number;
}

/** Begins to measure. @returns a function that ends it */
export function openWindow(
  { pids, databasePid }: Pick<Served, 'pids' | 'databasePid'>,
  crew?: WorkerPool,
): () => Used {
  crew?.busy();
  const start = performance.now();
  const cpu = cpuOfAll(pids);
  const databaseCpu = databasePid ? cpuOfAll([databasePid]) : undefined;
  return () => ({
    cpu: pids.length > 0 ? cpuOfAll(pids) - cpu : undefined,
    databaseCpu: databasePid && databaseCpu !== undefined ? cpuOfAll([databasePid]) - databaseCpu : undefined,
    seconds: (performance.now() - start) / 1_000,
    clients: crew?.busy() ?? 0,
  });
}

/** What was used, for each of so many deliveries, answers or connections. */
export function usedPer({ cpu, databaseCpu, clients }: Used, count: number): Figures {
  return {
    ...(cpu === undefined ? {} : { cpu: cpu / count }),
    ...(databaseCpu === undefined ? {} : { databaseCpu: databaseCpu / count }),
    clients,
  };
}

/** Private memory of a server's processes together, in bytes. */
export function memoryOf({ pids }: Pick<Served, 'pids'>): number {
  return pids.reduce((sum, pid) => sum + privateBytes(pid), 0);
}
