import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** How a proxy treats what passes through it. */
export interface ProxyFaults {
  /** Passes an answer on when it is complete: an event stream never is. */
  isBuffering?: boolean;
  /** Seconds that its Date header is ahead. */
  secondsAhead?: number;
}

/**
 * A proxy that passes no WebSockets, and requests to each server in turn.
 * @param targets base addresses of the servers
 */
export async function startBadProxy(targets: string[], { isBuffering, secondsAhead = 0 }: ProxyFaults = {}) {
  let turn = 0;
  const server = createServer((req, res) => {
    turn += 1;
    const { method = 'GET', headers, url = '/' } = req;
    const sent = request(new URL(url, targets[turn % targets.length]), { method, headers, agent: false });
    sent.on('response', async (answer) => {
      const date = new Date(Date.now() + secondsAhead * 1_000).toUTCString();
      const chunks: Buffer[] = [];
      try {
        if (isBuffering) for await (const chunk of answer) chunks.push(chunk);
      } catch {
        // The client has gone, and so the answer was cut.
        return;
      }
      res.writeHead(answer.statusCode as number, { ...answer.headers, date });
      if (isBuffering) res.end(Buffer.concat(chunks));
      else pipeline(answer, res, () => {});
    });
    sent.on('error', () => res.destroy());
    res.on('close', () => sent.destroy());
    req.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
    },
  };
}
