import { freemem, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerPool } from '../clients/worker-pool.js';
import { HOST } from '../installation.js';
import { type Flow, measureFlow, startMeasuring } from '../measure.js';
import type { LoadOptions } from '../options.js';
import type { Measured } from '../scenario.js';
import type { RunningServer } from '../start-server.js';
import { wallOf } from './wall.js';

/** The processes under load. */
export interface Loaded extends Pick<RunningServer, 'pids' | 'databasePid'> {
  /** Of `pids`, in the same order. */
  names: string[];
  /** Where the service's own metrics are; none of another server. */
  metricsPort?: number;
}

/** Figures of a load, and what it ran into first if it was too much. */
export interface Measurement {
  figures: Measured;
  wall: string;
}

const LOOP_ACTIVE = /^adoption_event_loop_active_seconds_total(?:\{[^}]*\})? ([\d.e+-]+)$/m;

/** How long the service's event loop has been active so far, s. */
async function loopActive(port: number): Promise<number> {
  const text = await (await fetch(`http://${HOST}:${port}/metrics`)).text();
  return Number(LOOP_ACTIVE.exec(text)?.[1]);
}

/** Watches what a load uses from now on. @returns names its wall; called while the load goes on */
export async function watchUsage(loaded: Loaded, clientPids: number[]) {
  const { metricsPort, names, databasePid } = loaded;
  const activeBefore = metricsPort === undefined ? 0 : await loopActive(metricsPort);
  const stop = startMeasuring(loaded, clientPids);
  return async () => {
    const usage = stop();
    const share = (cpu: number) => cpu / usage.seconds / 10_000;
    const active = metricsPort === undefined ? undefined : (await loopActive(metricsPort)) - activeBefore;
    const used = {
      processes: usage.cpus.map((cpu, i): [string, number] => [names[i] ?? 'server', share(cpu)]),
      clients: usage.clients,
      machine: usage.busy,
      loop: active === undefined ? undefined : (active / usage.seconds) * 100,
      memoryLeft: (freemem() / totalmem()) * 100,
    };
    if (databasePid !== undefined) used.processes.push(['database', share(usage.databaseCpu ?? 0)]);
    return { usage, wall: (late?: number) => wallOf({ ...used, late }) };
  };
}

/** Measures a flow of messages and what it uses, but not while the last ones are awaited. */
export async function measureLoad(
  options: LoadOptions,
  loaded: Loaded,
  pool: WorkerPool,
  flow: Flow,
): Promise<Measurement> {
  const windows: ReturnType<Awaited<ReturnType<typeof watchUsage>>>[] = [];
  const { figures } = await measureFlow(options, loaded, pool, flow, async () => {
    const stop = await watchUsage(loaded, pool.pids);
    const window = sleep(options.seconds * 1_000).then(stop);
    // It is awaited later.
    window.catch(() => undefined);
    windows.push(window);
  });
  const [watched] = await Promise.all(windows);
  return { figures, wall: watched?.wall(figures.late) ?? '' };
}
