import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP line to a process, which a test may make longer, hold up or cut. */
export interface Line {
  readonly port: number;
  /** Time, in ms, everything takes longer in each direction. Set it while nothing is under way. */
  delay: number;
  /**
   * Keeps back what is answered on a connection once it was asked something that fits; what is asked
   * goes through. `release` ends it.
   */
  holdAfter(fits: (asked: Buffer) => boolean): void;
  /** How many answers are kept back now. */
  readonly held: number;
  /** Lets through what was kept back, and everything after it. */
  release(): void;
  /** Breaks all connections that stand; new ones are let through. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts one on a free loopback port. */
export async function startLine(targetPort: number): Promise<Line> {
  const sockets = new Set<Socket>();
  const holding = new Set<Socket>();
  let held: (() => void)[] = [];
  let isToHold = (_asked: Buffer) => false;
  let delay = 0;

  /** @param near the client's end of the connection, by which it is known */
  function pipe(from: Socket, to: Socket, near: Socket): void {
    from.on('data', (chunk) => {
      const pass = () => {
        if (!to.destroyed) to.write(chunk);
      };
      const arrive = () => {
        if (from === near && isToHold(chunk)) holding.add(near);
        if (from !== near && holding.has(near)) held.push(pass);
        else pass();
      };
      if (delay > 0) setTimeout(arrive, delay);
      else arrive();
    });
    // A broken line is what is wanted here: either end sees it as `close`.
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.setNoDelay(true));
    pipe(near, far, near);
    pipe(far, near, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

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

  return {
    port: (server.address() as AddressInfo).port,
    get delay() {
      return delay;
    },
    set delay(ms) {
      delay = ms;
    },
    holdAfter(fits) {
      isToHold = fits;
    },
    get held() {
      return held.length;
    },
    release,
    cut,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
