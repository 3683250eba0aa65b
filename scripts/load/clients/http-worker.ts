import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, encode, record } from '../latency.js';
import type { WorkResult } from '../measure.js';
import { nowMicros } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';
import { TcpClient } from './tcp-client.js';

/** A process that sends requests over keep-alive connections: on each the next one follows the answer. */

export interface HttpCommand {
  host: string;
  port: number;
  /** Requested in turn. */
  paths: string[];
  token: string | undefined;
  connections: number;
  seconds: number;
}

/** Longest wait for the last responses, ms. */
const LAST_RESPONSES_MS = 10_000;

const CONTENT_LENGTH = /content-length: (\d+)/i;

/** One connection, which requests while `running()`. Resolves when it is closed. */
function requestAll(
  { host, port, paths, token }: HttpCommand,
  running: () => boolean,
  onResponse: (ok: boolean, micros?: number) => void,
): Promise<void> {
  const authorization = token ? `Authorization: ${token}\r\n` : '';
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`),
  );
  let next = Math.floor(Math.random() * requests.length);
  let sentAt = 0;
  let ok = false;
  /** Bytes of the response's body that are missing; -1 before its head. */
  let left = -1;

  function request(): Buffer {
    left = -1;
    sentAt = nowMicros();
    next = (next + 1) % requests.length;
    return requests[next] as Buffer;
  }

  /** @returns where the body begins; undefined while the head is incomplete */
  function readHead(bytes: Buffer): number | undefined {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = bytes.toString('latin1', 0, end);
    ok = head.startsWith('HTTP/1.1 200');
    left = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
    return end + 4;
  }

  return new Promise((resolve) => {
    const tcp = new TcpClient(host, port, {
      greeting: request,
      read(bytes) {
        const body = left < 0 ? readHead(bytes) : 0;
        if (body === undefined) return undefined;
        left -= bytes.length - body;
        if (left > 0) return bytes.length;
        onResponse(ok, nowMicros() - sentAt);
        if (running()) tcp.write(request());
        else {
          tcp.cut();
          resolve();
        }
        return bytes.length;
      },
      closed() {
        onResponse(false);
        resolve();
      },
    });
  });
}

handleCommands(async (command: HttpCommand): Promise<WorkResult> => {
  const times = createLatencies();
  // Responses with status 200; other responses, and requests without one.
  const result = { operations: 0, failed: 0 };
  let running = true;
  const connections = Array.from({ length: command.connections }, () =>
    requestAll(
      command,
      () => running,
      (ok, micros) => {
        result[ok ? 'operations' : 'failed'] += 1;
        if (micros !== undefined) record(times, micros);
      },
    ),
  );
  await sleep(command.seconds * 1_000);
  running = false;
  await Promise.race([Promise.all(connections), sleep(LAST_RESPONSES_MS)]);
  return { ...result, times: encode(times) };
});
reportReady();
