import { setTimeout as sleep } from 'node:timers/promises';
import { merge } from '../latency.js';
import { sum } from '../measure.js';
import type { ManagedProcess, ProcessGroup } from '../process-group.js';
import type { ConnectionSpec, Target } from './connection.js';
import type { ReturningCommand, ReturningProgress, ReturningResult } from './returning-worker.js';

/** After this long without another message while all clients are connected, ms, the missing ones are lost. */
const SILENCE_MS = 5_000;

/** Longest wait for all clients to be connected, ms. */
const CONNECTED_MS = 60_000;

/** Time allowed for connecting, and for the last acknowledgements, s. */
const OPEN_SECONDS = 120;
const LAST_ACKS_SECONDS = 60;

function request<T>(worker: ManagedProcess, command: ReturningCommand, seconds = 0): Promise<T> {
  return worker.request<T>(command, seconds);
}

/** Starts `count` processes of clients that come back. */
export async function startReturningPool(group: ProcessGroup, count: number): Promise<ReturningPool> {
  const started = await Promise.all(
    Array.from({ length: count }, () => group.start('clients/returning-worker')),
  );
  return new ReturningPool(started.map(({ process }) => process));
}

/** Processes of clients that lose their connections and come back, controlled as one. */
export class ReturningPool {
  readonly #workers: ManagedProcess[];

  constructor(workers: ManagedProcess[]) {
    this.#workers = workers;
  }

  get pids(): number[] {
    return this.#workers.map(({ pid }) => pid);
  }

  /** Opens connections, spread over processes and targets. @param delayMs pause before another attempt */
  async open(targets: Target[], specs: ConnectionSpec[], delayMs: number): Promise<void> {
    const of = (worker: number) => specs.filter((_, i) => i % this.#workers.length === worker);
    await Promise.all(
      this.#workers.map((worker, w) =>
        request<void>(worker, { do: 'open', targets, specs: of(w), delayMs }, OPEN_SECONDS),
      ),
    );
  }

  /** Cuts each client this often, for a time. */
  async cut(seconds: number, everyMs: number, awayMs: number): Promise<void> {
    await this.#requestAll({ do: 'cut', seconds, everyMs, awayMs }, seconds);
  }

  /** Where clients that lose their connections come back from now on. */
  async retarget(targets: Target[]): Promise<void> {
    await this.#requestAll({ do: 'retarget', targets });
  }

  /** Sends messages from one client. @returns how many were acknowledged */
  publish(seconds: number, count: number, length: number): Promise<number> {
    const [worker] = this.#workers as [ManagedProcess];
    return request(worker, { do: 'publish', seconds, count, length }, seconds + LAST_ACKS_SECONDS);
  }

  /** Resolves when all clients are connected and have as many messages together, or no more come. */
  async settle(clients: number, expected: number): Promise<void> {
    let received = -1;
    const deadline = performance.now() + CONNECTED_MS;
    for (let silentSince = performance.now(); ; await sleep(50)) {
      const all = await this.#requestAll<ReturningProgress>({ do: 'progress' });
      const before = received;
      received = sum(all.map((one) => one.received));
      const everybody = sum(all.map(({ connected }) => connected)) === clients;
      if (everybody && received >= expected) return;
      if (received !== before || !everybody) silentSince = performance.now();
      if (performance.now() > Math.min(deadline, silentSince + SILENCE_MS)) return;
    }
  }

  /** Forgets what was received. */
  async forget(): Promise<void> {
    await this.#requestAll({ do: 'forget' });
  }

  async read() {
    const all = await this.#requestAll<ReturningResult>({ do: 'read' });
    return {
      received: all.flatMap(({ received }) => received),
      catchUp: merge(all.map(({ catchUp }) => catchUp)),
      late: merge(all.map(({ late }) => late)),
    };
  }

  #requestAll<T>(command: ReturningCommand, seconds = 0): Promise<T[]> {
    return Promise.all(this.#workers.map((worker) => request<T>(worker, command, seconds)));
  }
}
