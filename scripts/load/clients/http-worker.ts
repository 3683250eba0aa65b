import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, encode, record } from '../latency.js';
import type { WorkResult } from '../measure.js';
import { atRate } from '../pacing.js';
import { nowMicros } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';
import { HttpConnection } from './http-connection.js';

/** A process that sends requests over keep-alive connections, one at a time on each. */

export interface HttpCommand {
  host: string;
  port: number;
  /** Requested in turn. */
  paths: string[];
  token: string | undefined;
  connections: number;
  /** Requests per second; without it, on each connection the next one follows the answer. */
  rate?: number;
  seconds: number;
}

export interface HttpResult extends Required<WorkResult> {
  /** Of the failed ones, answers that ask to come back later. */
  refused: number;
}

/** Longest wait for the last responses, ms. */
const LAST_RESPONSES_MS = 10_000;

/** Answers that ask to come back later. */
const REFUSED = [429, 503];

handleCommands(async (command: HttpCommand): Promise<HttpResult> => {
  const { seconds, rate } = command;
  const times = createLatencies();
  const late = createLatencies();
  // Responses with status 200; other responses, and requests without one.
  const result = { operations: 0, failed: 0, refused: 0 };
  let running = true;
  /** Requests that wait for a connection: when each was due, µs. Their latency includes the wait. */
  const due: number[] = [];
  const idle: HttpConnection[] = [];

  function onAnswer(connection: HttpConnection, status: number | undefined, sentAt: number): void {
    if (status === 200) {
      result.operations += 1;
      record(times, nowMicros() - sentAt);
    } else result.failed += 1;
    if (status !== undefined && REFUSED.includes(status)) result.refused += 1;
    const next = rate === undefined && running ? nowMicros() : due.shift();
    if (next === undefined) idle.push(connection);
    else connection.request(next);
  }

  const connections = Array.from(
    { length: command.connections },
    () => new HttpConnection(command, onAnswer),
  );
  if (rate === undefined) {
    for (const connection of connections) connection.request(nowMicros());
    await sleep(seconds * 1_000);
  } else {
    idle.push(...connections);
    await atRate({ rate, seconds }, (dueAt) => {
      record(late, nowMicros() - dueAt);
      const connection = idle.shift();
      if (connection) connection.request(dueAt);
      else due.push(dueAt);
    });
  }
  running = false;
  const deadline = performance.now() + LAST_RESPONSES_MS;
  while (idle.length < connections.length && performance.now() < deadline) await sleep(5);
  result.failed += due.length + connections.length - idle.length;
  for (const connection of connections) connection.cut();
  return { ...result, times: encode(times), late: encode(late) };
});
reportReady();
