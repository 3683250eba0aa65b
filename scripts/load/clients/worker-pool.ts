import { setTimeout as sleep } from 'node:timers/promises';
import { merge } from '../latency.js';
import { sum } from '../measure.js';
import type { ManagedProcess, ProcessGroup } from '../process-group.js';
import { nowMicros } from '../stamp.js';
import type { ConnectionSpec, Target } from './connection.js';
import type { Command, FlowCommand, OpenCommand, OpenResult } from './connection-worker.js';
import { type Counts, noCounts, type WorkerCounts } from './counts.js';

/** Connections opened at the same time by default, and their timeout in ms. */
const CONCURRENCY = 100;
const TIMEOUT_MS = 30_000;

/** After this long without a delivery, ms, the missing ones are lost: they will not come. */
const SILENCE_MS = 5_000;

/** Time allowed for any command, s; for a flow, beside its own duration. */
const COMMAND_SECONDS = 540;

/** Counts of all workers since the last reset. */
export type PoolCounts = Awaited<ReturnType<WorkerPool['read']>>;

interface Worker {
  process: ManagedProcess;
  senders: number;
}

function request<T>({ process }: Worker, command: Command): Promise<T> {
  const seconds = command.do === 'flow' ? command.seconds : 0;
  return process.request<T>(command, COMMAND_SECONDS + seconds);
}

/** Starts `count` processes of clients. */
export async function startWorkerPool(group: ProcessGroup, count: number): Promise<WorkerPool> {
  const started = await Promise.all(
    Array.from({ length: count }, () => group.start('clients/connection-worker')),
  );
  return new WorkerPool(started.map(({ process }) => process));
}

/** Client processes, controlled as one. */
export class WorkerPool {
  readonly #workers: Worker[];
  /** Connects and joins that a server refused for the time being. */
  repeated = 0;

  constructor(processes: ManagedProcess[]) {
    this.#workers = processes.map((process) => ({ process, senders: 0 }));
  }

  get pids(): number[] {
    return this.#workers.map(({ process }) => process.pid);
  }

  /** Opens connections, spread over the processes. */
  async open(
    target: Target,
    specs: ConnectionSpec[],
    { concurrency = CONCURRENCY, timeoutMs = TIMEOUT_MS }: Partial<OpenCommand> = {},
  ): Promise<OpenResult> {
    const results = await Promise.all(
      this.#workers.map((worker, w) => {
        const share = specs.filter((_, i) => i % this.#workers.length === w);
        worker.senders += share.filter(({ sender }) => sender).length;
        return request<OpenResult>(worker, {
          do: 'open',
          ...{ target, specs: share, timeoutMs },
          concurrency: Math.max(1, Math.ceil(concurrency / this.#workers.length)),
        });
      }),
    );
    const repeated = sum(results.map((result) => result.repeated));
    this.repeated += repeated;
    return {
      repeated,
      opened: sum(results.map(({ opened }) => opened)),
      failed: sum(results.map(({ failed }) => failed)),
      reason: results.find(({ reason }) => reason)?.reason,
    };
  }

  /** Opens connections. @throws Error if one fails */
  async openAll(target: Target, specs: ConnectionSpec[]): Promise<void> {
    const { failed, reason } = await this.open(target, specs);
    if (failed > 0) throw new Error(`${failed} connections failed: ${reason}`);
  }

  /** Starts the senders; `rate` and `burst` are totals. Resolves when all messages are acknowledged. */
  async flow({ rate, burst = 1, ...command }: FlowCommand): Promise<void> {
    const total = sum(this.#workers.map(({ senders }) => senders));
    await Promise.all(
      this.#workers
        .filter(({ senders }) => senders > 0)
        .map((worker) => {
          const share = worker.senders / total;
          return request(worker, {
            ...{ do: 'flow', ...command },
            rate: rate && rate * share,
            burst: Math.max(1, Math.round(burst * share)),
          });
        }),
    );
  }

  /**
   * Resolves when the expected deliveries since the last reset have arrived, or no more arrive.
   * @param onArrival called when it begins, and whenever more have arrived
   */
  async settle(expected: number, onArrival?: () => void): Promise<void> {
    let delivered = await this.delivered();
    onArrival?.();
    for (let silentSince = performance.now(); delivered < expected; ) {
      if (performance.now() - silentSince > SILENCE_MS) return;
      await sleep(20);
      const before = delivered;
      delivered = await this.delivered();
      if (delivered === before) continue;
      silentSince = performance.now();
      onArrival?.();
    }
  }

  /** Deliveries since the last reset. */
  async delivered(): Promise<number> {
    return sum(await this.#requestAll<number>({ do: 'delivered' }));
  }

  async read() {
    const all = await this.#requestAll<WorkerCounts>({ do: 'read' });
    const counts = noCounts();
    for (const key of Object.keys(counts) as (keyof Counts)[]) counts[key] = sum(all.map((one) => one[key]));
    return {
      ...counts,
      /** µs from when it was due to delivery. */
      deliveryTimes: merge(all.map(({ deliveryTimes }) => deliveryTimes)),
      /** µs from when it was due to acknowledgement. */
      ackTimes: merge(all.map(({ ackTimes }) => ackTimes)),
      /** µs from when it was due to sending. */
      late: merge(all.map(({ late }) => late)),
    };
  }

  /** Sets all counts to zero. @param seconds until the last message will be due */
  async reset(seconds?: number): Promise<void> {
    const endsAt = seconds === undefined ? undefined : nowMicros() + seconds * 1e6;
    await this.#requestAll({ do: 'reset', endsAt });
  }

  /** Closes all connections at once. */
  async cut(): Promise<void> {
    await this.#requestAll({ do: 'cut' });
    for (const worker of this.#workers) worker.senders = 0;
  }

  #requestAll<T>(command: Command): Promise<T[]> {
    return Promise.all(this.#workers.map((worker) => request<T>(worker, command)));
  }
}
