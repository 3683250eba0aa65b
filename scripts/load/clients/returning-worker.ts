import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, encode, record } from '../latency.js';
import { atRate } from '../pacing.js';
import { nowMicros, stampedText } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';
import type { ConnectionSpec, Target } from './connection.js';
import { ReturningClient, type Surroundings } from './returning-client.js';

/** A process of clients that lose their connections and come back (returning-pool.ts). */

export type ReturningCommand =
  | { do: 'open'; targets: Target[]; specs: ConnectionSpec[]; delayMs: number }
  /** Every client is cut this often, each at another moment, for a time. */
  | { do: 'cut'; seconds: number; everyMs: number; awayMs: number }
  | { do: 'retarget'; targets: Target[] }
  /** The first client sends, until all is acknowledged. */
  | { do: 'publish'; seconds: number; count: number; length: number }
  | { do: 'progress' | 'read' | 'forget' };

export interface ReturningProgress {
  connected: number;
  received: number;
}

export interface ReturningResult {
  /** Different messages of each client. */
  received: number[];
  /** Encoded histogram, as of `Surroundings`. */
  catchUp: string;
  /** Encoded histogram: µs by which messages were sent late. */
  late: string;
}

/** Clients that begin to connect at the same moment, and the pause before the next ones, ms. */
const AT_ONCE = 50;
const PAUSE_MS = 20;

/** Longest wait for the last acknowledgements, ms. */
const LAST_ACKS_MS = 60_000;

const surroundings: Surroundings = { targets: [], delayMs: 0, catchUp: createLatencies() };
const late = createLatencies();
const clients: ReturningClient[] = [];
let sequence = 0;

async function open(targets: Target[], specs: ConnectionSpec[], delayMs: number): Promise<void> {
  Object.assign(surroundings, { targets, delayMs });
  for (const [i, spec] of specs.entries()) {
    clients.push(new ReturningClient(spec, i, surroundings));
    if (i % AT_ONCE === AT_ONCE - 1) await sleep(PAUSE_MS);
  }
  await Promise.all(clients.map(({ opened }) => opened));
}

async function cut(seconds: number, everyMs: number, awayMs: number): Promise<void> {
  const start = performance.now();
  await Promise.all(
    clients.map(async (client, i) => {
      for (let at = (i / clients.length) * everyMs; at < seconds * 1_000; at += everyMs) {
        await sleep(Math.max(0, start + at - performance.now()));
        client.cut(awayMs);
      }
    }),
  );
}

/** @returns how many were acknowledged */
async function publish(seconds: number, count: number, length: number): Promise<number> {
  const [client] = clients as [ReturningClient];
  await atRate({ rate: count / seconds, seconds }, (dueAt) => {
    sequence += 1;
    record(late, nowMicros() - dueAt);
    client.send(stampedText(length, dueAt), sequence);
  });
  const deadline = performance.now() + LAST_ACKS_MS;
  while (client.waiting > 0 && performance.now() < deadline) await sleep(20);
  return count - client.waiting;
}

function forget(): void {
  for (const { received } of clients) received.clear();
  surroundings.catchUp.reset();
  late.reset();
}

function progress(): ReturningProgress {
  return {
    connected: clients.filter(({ connected }) => connected).length,
    received: clients.reduce((sum, { received }) => sum + received.size, 0),
  };
}

handleCommands((command: ReturningCommand): unknown => {
  switch (command.do) {
    case 'open':
      return open(command.targets, command.specs, command.delayMs);
    case 'cut':
      return cut(command.seconds, command.everyMs, command.awayMs);
    case 'retarget':
      surroundings.targets = command.targets;
      return undefined;
    case 'publish':
      return publish(command.seconds, command.count, command.length);
    case 'forget':
      return forget();
    case 'progress':
      return progress();
    case 'read':
      return {
        received: clients.map(({ received }) => received.size),
        catchUp: encode(surroundings.catchUp),
        late: encode(late),
      } satisfies ReturningResult;
  }
});
reportReady();
