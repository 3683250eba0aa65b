import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { createLatencies, note } from '../latency.js';
import { nowMicros } from '../stamp.js';

/**
 * A process that asks over HTTP: kept-alive connections by hand, each with one request on its way, as fast
 * as they are answered.
 */
export interface HttpCommand {
  host: string;
  port: number;
  paths: string[];
  token?: string;
  connections: number;
  seconds: number;
}

export interface HttpTally {
  answered: number;
  /** Answers that were not 200, and requests without one. */
  failed: number;
  bytes: number;
  times: string;
}

const READ_BUFFER = Buffer.allocUnsafe(1024 * 1024);
const LENGTH = /content-length: (\d+)/i;

/** One connection that asks until it is told to stop. */
function ask(
  command: HttpCommand,
  tally: Omit<HttpTally, 'times'>,
  times: ReturnType<typeof createLatencies>,
) {
  const { host, port, paths, token } = command;
  const requests = paths.map((path) =>
    Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${token ? `Authorization: ${token}\r\n` : ''}\r\n`,
    ),
  );
  let next = Math.floor(Math.random() * requests.length);
  let sentAt = 0;
  let running = true;
  /** Bytes of the present answer that are still to come; -1 while its head is. */
  let left = -1;
  let head = '';

  function request(): void {
    left = -1;
    head = '';
    sentAt = nowMicros();
    next = (next + 1) % requests.length;
    socket.write(requests[next] as Buffer);
  }

  function done(): void {
    if (head.startsWith('HTTP/1.1 200')) tally.answered += 1;
    else tally.failed += 1;
    note(times, nowMicros() - sentAt);
    if (running) request();
    else socket.destroy();
  }

  function read(bytes: Buffer): void {
    tally.bytes += bytes.length;
    let body = bytes.length;
    if (left < 0) {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      left = Number(LENGTH.exec(head)?.[1] ?? 0);
      body = head.length - end - 4;
    }
    left -= body;
    if (left <= 0) done();
  }

  const socket: Socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: READ_BUFFER,
      callback: (length, bytes) => {
        read((bytes as Buffer).subarray(0, length));
        return true;
      },
    },
  });
  socket.on('connect', request);
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => {
      tally.failed += 1;
    });
    socket.on('close', () => resolve());
  });
  return {
    ended,
    stop: () => {
      running = false;
    },
  };
}

async function run(command: HttpCommand): Promise<HttpTally> {
  const tally = { answered: 0, failed: 0, bytes: 0 };
  const times = createLatencies();
  const all = Array.from({ length: command.connections }, () => ask(command, tally, times));
  await sleep(command.seconds * 1_000);
  for (const { stop } of all) stop();
  await Promise.race([Promise.all(all.map(({ ended }) => ended)), sleep(10_000)]);
  return { ...tally, times: encodeIntoCompressedBase64(times) };
}

process.on('message', (command: HttpCommand) => {
  void run(command).then((tally) => process.send?.(tally));
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');
