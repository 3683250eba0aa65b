import { setTimeout as sleep } from 'node:timers/promises';
import { nowMicros, stampedText } from '../stamp.js';
import type { Connection, ConnectionKind, ConnectionSpec, OpenConnection, Target } from './connection.js';
import { openMqtt } from './mqtt-connection.js';
import { openPlain } from './plain-connection.js';
import { openSocketIo } from './socketio-connection.js';
import { openStream } from './stream-connection.js';
import { Counter } from './tally.js';

/** A process of clients: opens connections, lets some of them send, and counts. What it is told: crew.ts. */

export interface OpenCommand {
  target: Target;
  lines: ConnectionSpec[];
  /** How many are on their way at the same time. */
  atOnce: number;
  /** Longest time, ms, until a connection is where it has to be. */
  patienceMs: number;
}

export interface FlowCommand {
  seconds: number;
  /** Messages per second of this process; without it, each sender sends when its last one is acknowledged. */
  rate?: number;
  /** How many of them are sent at the same moment; 1 unless told. */
  burst?: number;
  /** Length of a message's text. */
  length: number;
}

export interface Opened {
  opened: number;
  failed: number;
  /** Why, of the first that failed. */
  reason?: string;
}

interface Client {
  line: Connection;
  /** The sender's count in the delivery before. */
  last: number;
  /** When what is not answered yet was sent, oldest first. */
  pending: number[];
  /** Called with each answer. */
  onAnswer?: () => void;
}

const openers: Record<ConnectionKind, OpenConnection> = {
  socketio: openSocketIo,
  plain: openPlain,
  mqtt: openMqtt,
  stream: openStream,
};

/** Time, in ms, what was sent last may take to be acknowledged. */
const LAST_ACKS_MS = 15_000;

const counter = new Counter();
let clients: Client[] = [];
let senders: Client[] = [];
let sequence = 0;

async function openOne(target: Target, spec: ConnectionSpec, patienceMs: number): Promise<void> {
  const client: Client = { line: undefined as unknown as Connection, last: 0, pending: [] };
  const opening = openers[target.kind](target, spec, {
    heard(bytes, from, to) {
      client.last = counter.heard(bytes, from, to, client.last);
    },
    answered(good) {
      counter.answered(client.pending.shift() ?? nowMicros(), good);
      client.onAnswer?.();
    },
    closed() {
      counter.closed += 1;
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not there after ${patienceMs} ms`)), patienceMs);
  });
  try {
    client.line = await Promise.race([opening, late]);
  } catch (error) {
    // One that comes after all is not wanted any more.
    opening.then(
      (line) => line.cut(),
      () => undefined,
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
  clients.push(client);
  if (spec.sender) senders.push(client);
}

async function open({ target, lines, atOnce, patienceMs }: OpenCommand): Promise<Opened> {
  const result: Opened = { opened: 0, failed: 0 };
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(atOnce, lines.length) }, async () => {
      while (next < lines.length) {
        const spec = lines[next] as ConnectionSpec;
        next += 1;
        try {
          await openOne(target, spec, patienceMs);
          result.opened += 1;
        } catch (error) {
          result.failed += 1;
          result.reason ??= (error as Error).message;
        }
      }
    }),
  );
  return result;
}

function send(client: Client, length: number): void {
  sequence += 1;
  counter.sent += 1;
  client.pending.push(nowMicros());
  client.line.send(stampedText(sequence, length), sequence);
}

/** As many messages a second, from the senders in turn, whatever becomes of them. */
async function paced(rate: number, seconds: number, burst: number, length: number): Promise<void> {
  const start = performance.now();
  const total = Math.round(rate * seconds);
  let done = 0;
  while (done < total) {
    const bursts = Math.floor(((performance.now() - start) / 1_000) * (rate / burst)) + 1;
    const due = Math.min(total, bursts * burst);
    for (; done < due; done += 1) send(senders[done % senders.length] as Client, length);
    const nextAt = start + (done / rate) * 1_000;
    await sleep(Math.max(0, nextAt - performance.now()));
  }
}

/** Each sender sends its next message when the last one is acknowledged. */
async function asAcksAllow(seconds: number, length: number): Promise<void> {
  let running = true;
  for (const client of senders) {
    client.onAnswer = () => {
      if (running) send(client, length);
    };
    send(client, length);
  }
  await sleep(seconds * 1_000);
  running = false;
}

async function flow({ seconds, rate, burst = 1, length }: FlowCommand): Promise<void> {
  if (senders.length === 0) return;
  if (rate === undefined) await asAcksAllow(seconds, length);
  else await paced(rate, seconds, burst, length);
  const deadline = performance.now() + LAST_ACKS_MS;
  const answers = counter.acked + counter.refused > 0;
  while (answers && counter.acked + counter.refused < counter.sent && performance.now() < deadline)
    await sleep(5);
  for (const client of senders) delete client.onAnswer;
}

/** Cuts every connection at once. */
function cut(): void {
  for (const { line } of clients) line.cut();
  clients = [];
  senders = [];
}

type Command =
  | ({ do: 'open' } & OpenCommand)
  | ({ do: 'flow' } & FlowCommand)
  | { do: 'forget' | 'read' | 'count' | 'cut' };

async function obey(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'open':
      return open(command);
    case 'flow':
      return flow(command);
    case 'forget':
      return counter.forget();
    case 'read':
      return counter.read();
    case 'count':
      return counter.delivered;
    case 'cut':
      return cut();
  }
}

process.on('message', (message: { id: number; command: Command }) => {
  obey(message.command).then(
    (value) => process.send?.({ id: message.id, value }),
    (error: Error) => process.send?.({ id: message.id, error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');
