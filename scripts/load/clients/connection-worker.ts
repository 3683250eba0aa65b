import { setTimeout as sleep } from 'node:timers/promises';
import { atRate, forEachConcurrently } from '../pacing.js';
import { nowMicros, stampedText } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';
import type { Connection, ConnectionSpec, Target } from './connection.js';
import { Counter } from './counts.js';
import { openConnection } from './open-connection.js';

/** A process of a worker pool (worker-pool.ts): opens connections, sends on some of them, and counts. */

export interface OpenCommand {
  target: Target;
  specs: ConnectionSpec[];
  /** How many are opened at the same time. */
  concurrency: number;
  /** Longest time until a connection is ready, ms. */
  timeoutMs: number;
}

export interface FlowCommand {
  seconds: number;
  /** Messages per second of this process; without it each sender sends when its last message is acknowledged. */
  rate?: number;
  /** Messages sent at the same moment; 1 by default. */
  burst?: number;
  /** Characters of a message. */
  length: number;
}

export interface OpenResult {
  opened: number;
  failed: number;
  /** Connects and joins that the server refused for the time being. */
  repeated: number;
  /** Why the first of them failed. */
  reason?: string;
}

interface Client {
  connection: Connection;
  /** When each message without an acknowledgement was due, µs, by its count, oldest first. */
  pending: Map<number, number>;
  onAck?: () => void;
}

/** Longest wait for the last acknowledgements of a flow, ms. */
const LAST_ACKS_MS = 15_000;

/** The answer of a server that has too much to do, or whose limits are reached, to a connect or a join. */
const TRY_AGAIN = /^refused: HTTP\/1\.[01] (?:429|503)\b|"status":(?:429|503)\b/;

/** Shortest and longest pause before it is repeated, ms. */
const PAUSE_MS = [500, 1_500] as const;

const counter = new Counter();
let clients: Client[] = [];
let senders: Client[] = [];
let sequence = 0;

/** Opens a connection. @throws Error if it is closed or not ready in time */
function openOne(target: Target, spec: ConnectionSpec, deadline: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    let ready = false;
    const timer = setTimeout(() => {
      client.connection.cut();
      reject(new Error('not ready in time'));
    }, deadline - performance.now());
    const connection = openConnection(target, spec, {
      ready() {
        ready = true;
        clearTimeout(timer);
        resolve(client);
      },
      delivered: (bytes, from, to) => counter.delivered(bytes, from, to),
      acknowledged(ok, count = client.pending.keys().next().value ?? 0) {
        counter.acknowledged(client.pending.get(count) ?? nowMicros(), ok);
        client.pending.delete(count);
        client.onAck?.();
      },
      closed(reason) {
        clearTimeout(timer);
        if (ready) counter.counts.closed += 1;
        else reject(new Error(reason));
      },
    });
    const client: Client = { connection, pending: new Map() };
  });
}

/**
 * Opens a connection. What the server refuses for the time being is repeated for so long, unless another one has failed.
 * @throws Error if it is closed, not ready in time, or refused
 */
async function openPatiently(
  target: Target,
  spec: ConnectionSpec,
  timeoutMs: number,
  result: OpenResult,
): Promise<Client> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await openOne(target, spec, deadline);
    } catch (error) {
      const [least, most] = PAUSE_MS;
      const pause = least + Math.random() * (most - least);
      const mayRepeat = result.failed === 0 && performance.now() + pause < deadline;
      if (!mayRepeat || !TRY_AGAIN.test((error as Error).message)) throw error;
      result.repeated += 1;
      await sleep(pause);
    }
  }
}

async function open(command: OpenCommand): Promise<OpenResult> {
  const { target, specs, concurrency, timeoutMs } = command;
  const result: OpenResult = { opened: 0, failed: 0, repeated: 0 };
  const openNext = async (spec: ConnectionSpec) => {
    try {
      const client = await openPatiently(target, spec, timeoutMs, result);
      clients.push(client);
      if (spec.sender) senders.push(client);
      result.opened += 1;
    } catch (error) {
      result.failed += 1;
      result.reason ??= (error as Error).message;
    }
  };
  await forEachConcurrently(specs, concurrency, openNext);
  return result;
}

/** @param dueAt µs, of `nowMicros` */
function send(client: Client, length: number, dueAt: number): void {
  sequence += 1;
  counter.sent(dueAt);
  client.pending.set(sequence, dueAt);
  client.connection.send(stampedText(length, dueAt), sequence);
}

/** Each sender sends its next message when the last one is acknowledged. */
async function sendOnAck(seconds: number, length: number): Promise<void> {
  for (const client of senders) {
    client.onAck = () => send(client, length, nowMicros());
    send(client, length, nowMicros());
  }
  await sleep(seconds * 1_000);
  for (const client of senders) delete client.onAck;
}

async function flow({ seconds, rate, burst, length }: FlowCommand): Promise<void> {
  if (senders.length === 0) return;
  let sent = 0;
  if (rate === undefined) await sendOnAck(seconds, length);
  else
    await atRate({ rate, seconds, burst }, (dueAt) => {
      send(senders[sent % senders.length] as Client, length, dueAt);
      sent += 1;
    });
  const deadline = performance.now() + LAST_ACKS_MS;
  // mosquitto acknowledges nothing at QoS 0.
  const acknowledges = counter.answered > 0;
  while (acknowledges && counter.answered < counter.counts.sent && performance.now() < deadline)
    await sleep(5);
}

/** Closes all connections at once. */
function cut(): void {
  for (const { connection } of clients) connection.cut();
  clients = [];
  senders = [];
}

export type Command =
  | ({ do: 'open' } & OpenCommand)
  | ({ do: 'flow' } & FlowCommand)
  | { do: 'reset'; endsAt?: number }
  | { do: 'read' | 'delivered' | 'cut' };

function handleCommand(command: Command): unknown {
  switch (command.do) {
    case 'open':
      return open(command);
    case 'flow':
      return flow(command);
    case 'reset':
      return counter.reset(command.endsAt);
    case 'read':
      return counter.read();
    case 'delivered':
      return counter.counts.delivered;
    case 'cut':
      return cut();
  }
}

handleCommands(handleCommand);
reportReady();
