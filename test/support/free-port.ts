import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports (from 32,768 on Linux), so that no outgoing connection takes one before its server does. */
const [FIRST, LAST] = [20_000, 32_000];

/** A loopback port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
