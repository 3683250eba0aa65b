import { connect, createServer, type Socket } from 'node:net';

/** A connection in the middle that can be cut or gone silent, to see what is made of it. */
export interface TcpProxy {
  port: number;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Keeps all connections, and passes nothing on any more. */
  silence(): void;
  /** As if nothing had been. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** @param targetOf port on this machine that the next connection goes to */
export async function startTcpProxy(targetOf: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let silent = false;

  const server = createServer((near) => {
    const far = connect(targetOf(), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (!silent) to.write(chunk);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve());
    });
  await listen(0);
  const { port } = server.address() as { port: number };
  const closeServer = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });

  return {
    port,
    cut: closeServer,
    silence() {
      silent = true;
    },
    async restore() {
      silent = false;
      // What was swallowed is missing from these; they would never recover.
      for (const socket of sockets) socket.destroy();
      if (!server.listening) await listen(port);
    },
    async close() {
      if (server.listening) await closeServer();
    },
  };
}
