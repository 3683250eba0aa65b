import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './ports.js';

/** What is done with the bytes of one connection; each side passes on what it likes, when it likes. */
export interface Tap {
  request?(chunk: Buffer, pass: (chunk: Buffer) => void): void;
  answer?(chunk: Buffer, pass: (chunk: Buffer) => void): void;
}

/** A TCP proxy on loopback that can slow down, hold, silence or cut what goes through it. */
export interface TcpProxy {
  readonly port: number;
  /** Delay in each direction, ms. */
  delay: number;
  /** Withholds the answers on a connection from the first request that matches on, until `release`. */
  holdAfter(matches: (request: Buffer) => boolean): void;
  /** How many answers are withheld. */
  readonly held: number;
  /** Sends the withheld answers and stops withholding. */
  release(): void;
  /** Drops everything in both directions; connections stay open, and new ones are accepted. */
  silence(): void;
  /** Destroys all connections; new ones are accepted. */
  cut(): void;
  /** Destroys all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Ends `silence` and `refuse`; connections that were silenced are destroyed, as bytes of theirs are missing. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param targetOf port on this machine that the next connection goes to
 * @param tap called with the client's end of each connection
 */
export async function startTcpProxy(
  targetOf: () => number,
  tap: (client: Socket) => Tap = () => ({}),
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const holding = new Set<Socket>();
  let held: (() => void)[] = [];
  let isToHold = (_request: Buffer) => false;
  let delay = 0;
  let silent = false;

  const server = createServer((near) => {
    const far = connect(targetOf(), '127.0.0.1');
    const { request, answer } = tap(near);
    for (const [from, to, tapped] of [
      [near, far, request],
      [far, near, answer],
    ] as const) {
      sockets.add(from.setNoDelay(true));
      const write = (chunk: Buffer) => {
        if (!to.destroyed) to.write(chunk);
      };
      const arrive = (chunk: Buffer) => {
        if (from === near && isToHold(chunk)) holding.add(near);
        const pass = () => (tapped ? tapped(chunk, write) : write(chunk));
        if (from === far && holding.has(near)) held.push(pass);
        else pass();
      };
      /** Delayed ones. Each timer passes the first, so that none overtakes another when the delay changes. */
      const waiting: Buffer[] = [];
      from.on('data', (chunk) => {
        if (silent) return;
        if (delay === 0 && waiting.length === 0) {
          arrive(chunk);
          return;
        }
        waiting.push(chunk);
        setTimeout(() => arrive(waiting.shift() as Buffer), delay);
      });
      // `close` follows.
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        holding.delete(near);
        to.destroy();
      });
    }
  });

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  const port = await freePort();
  await listen(port);

  function release(): void {
    isToHold = () => false;
    holding.clear();
    for (const pass of held.splice(0)) pass();
  }
  function cut(): void {
    held = [];
    release();
    for (const socket of sockets) socket.destroy();
  }
  async function refuse(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  }

  return {
    port,
    get delay() {
      return delay;
    },
    set delay(ms) {
      delay = ms;
    },
    holdAfter(matches) {
      isToHold = matches;
    },
    get held() {
      return held.length;
    },
    release,
    silence() {
      silent = true;
    },
    cut,
    refuse,
    async restore() {
      if (silent) cut();
      silent = false;
      if (!server.listening) await listen(port);
    },
    close: refuse,
  };
}
