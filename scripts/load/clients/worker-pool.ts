import { setTimeout as sleep } from 'node:timers/promises';
import { merge } from '../latency.js';
import { cpuMicros } from '../process-figures.js';
import { type Actor, messageOf, type ProcessGroup } from '../process-group.js';
import type { ConnectionSpec, Target } from './connection.js';
import type { FlowCommand, OpenCommand, Opened } from './connection-worker.js';
import type { Tally } from './tally.js';

/** How many connections are opened at the same time, unless all are to come at once. */
const AT_ONCE = 100;
const PATIENCE_MS = 30_000;

/** Time, in ms, without a delivery after which what has not come is lost. */
const SILENCE_MS = 1_500;

/** The histograms of a tally that was read from several processes stay apart until they are needed. */
export interface PoolCounts extends Tally {
  parts: Tally[];
}

/** Processes of clients that act as one. */
export interface WorkerPool {
  /** Opens connections, spread over the processes; senders of one room are in one process. */
  open(
    target: Target,
    lines: ConnectionSpec[],
    options?: Partial<Pick<OpenCommand, 'atOnce' | 'patienceMs'>>,
  ): Promise<Opened>;
  /**
   * Lets the senders send; resolves when they have, and have their answers. `rate` and `burst` are those
   * of all together.
   */
  flow(command: FlowCommand): Promise<void>;
  /** Resolves when that many deliveries have come, or no more do. */
  settle(expected: number): Promise<void>;
  forget(): Promise<void>;
  read(): Promise<PoolCounts>;
  cut(): Promise<void>;
  /** CPU of the busiest process since the last call, in % of a core. */
  busy(): number;
}

interface Worker {
  actor: Actor;
  ask<T>(command: object): Promise<T>;
  /** Whether any of its connections sends. */
  sends: number;
}

async function startWorker(stage: ProcessGroup, number: number): Promise<Worker> {
  const actor = stage.fork(`clients ${number}`, 'load/clients/connection-worker.js');
  await messageOf(actor, (message) => message === 'ready');
  let last = 0;
  return {
    actor,
    sends: 0,
    async ask<T>(command: object) {
      last += 1;
      const id = last;
      const answered = messageOf<{ value: T; error?: string }>(
        actor,
        (message) => (message as { id?: number }).id === id,
        600_000,
      );
      actor.child.send({ id, command });
      const { value, error } = await answered;
      if (error !== undefined) throw new Error(`clients: ${error}`);
      return value;
    },
  };
}

function add(tallies: Tally[]): Tally {
  const sum = (key: 'sent' | 'acked' | 'refused' | 'delivered' | 'disordered' | 'closed') =>
    tallies.reduce((total, tally) => total + tally[key], 0);
  return {
    sent: sum('sent'),
    acked: sum('acked'),
    refused: sum('refused'),
    delivered: sum('delivered'),
    disordered: sum('disordered'),
    closed: sum('closed'),
    deliveryTimes: '',
    ackTimes: '',
  };
}

/** @returns latencies of deliveries and of acknowledgements, over all processes */
export function latenciesOf({ parts }: PoolCounts) {
  return {
    deliveries: merge(parts.map(({ deliveryTimes }) => deliveryTimes)),
    acks: merge(parts.map(({ ackTimes }) => ackTimes)),
  };
}

/** @param count how many processes */
export async function startWorkerPool(stage: ProcessGroup, count: number): Promise<WorkerPool> {
  const workers = await Promise.all(Array.from({ length: count }, (_, i) => startWorker(stage, i + 1)));
  const all = <T>(command: object) => Promise.all(workers.map((worker) => worker.ask<T>(command)));
  let since = { at: performance.now(), cpu: workers.map(({ actor }) => cpuMicros(actor.pid)) };

  async function read(): Promise<PoolCounts> {
    const parts = await all<Tally>({ do: 'read' });
    return { ...add(parts), parts };
  }

  return {
    async open(target, lines, { atOnce = AT_ONCE, patienceMs = PATIENCE_MS } = {}) {
      const shares: ConnectionSpec[][] = workers.map(() => []);
      for (const [i, line] of lines.entries()) shares[i % workers.length]?.push(line);
      const opened = await Promise.all(
        workers.map((worker, i) => {
          const share = shares[i] ?? [];
          worker.sends += share.filter(({ sender }) => sender).length;
          const each = Math.max(1, Math.ceil(atOnce / workers.length));
          return worker.ask<Opened>({ do: 'open', target, lines: share, atOnce: each, patienceMs });
        }),
      );
      const reason = opened.find((one) => one.reason)?.reason;
      return {
        opened: opened.reduce((sum, one) => sum + one.opened, 0),
        failed: opened.reduce((sum, one) => sum + one.failed, 0),
        ...(reason === undefined ? {} : { reason }),
      };
    },
    async flow({ rate, burst = 1, ...command }) {
      const senders = workers.reduce((sum, { sends }) => sum + sends, 0);
      await Promise.all(
        workers
          .filter(({ sends }) => sends > 0)
          .map((worker) =>
            worker.ask({
              do: 'flow',
              ...command,
              ...(rate === undefined ? {} : { rate: (rate * worker.sends) / senders }),
              burst: Math.max(1, Math.round((burst * worker.sends) / senders)),
            }),
          ),
      );
    },
    async settle(expected) {
      let seen = -1;
      let quietSince = performance.now();
      for (;;) {
        const delivered = (await all<number>({ do: 'count' })).reduce((sum, one) => sum + one, 0);
        if (delivered >= expected) return;
        if (delivered !== seen) quietSince = performance.now();
        seen = delivered;
        if (performance.now() - quietSince > SILENCE_MS) return;
        await sleep(20);
      }
    },
    forget: async () => {
      await all({ do: 'forget' });
    },
    read,
    cut: async () => {
      await all({ do: 'cut' });
      for (const worker of workers) worker.sends = 0;
    },
    busy() {
      const [at, cpu] = [performance.now(), workers.map(({ actor }) => cpuMicros(actor.pid))];
      const used = cpu.map((now, i) => (now - (since.cpu[i] ?? 0)) / (at - since.at) / 10);
      since = { at, cpu };
      return Math.max(...used);
    },
  };
}
