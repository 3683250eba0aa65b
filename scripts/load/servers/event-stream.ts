import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The limit of event streams: bare node responses that are held open and written to. Told `{announce: n}`,
 * it writes n events to each.
 */
const streams = new Set<ServerResponse>();
let opened = 0;

const server = createServer((req, res) => {
  opened += 1;
  req.socket.setTimeout(0);
  req.socket.setNoDelay(true);
  res.writeHead(200, {
    'Content-Type': 'text/event-stream;charset=UTF-8',
    'Cache-Control': 'no-cache, no-transform',
    Connection: 'keep-alive',
    'X-Accel-Buffering': 'no',
  });
  res.write(`retry: 3000\nid: ${opened}_0\nevent: sse\ndata: EventStream Created. [userId=${opened}]\n\n`);
  streams.add(res);
  res.on('close', () => streams.delete(res));
});

process.on('message', ({ announce, content }: { announce: number; content: string }) => {
  for (let n = 1; n <= announce; n += 1) {
    let id = 0;
    for (const res of streams) {
      id += 1;
      const data = {
        id,
        type: 'announcement',
        content,
        url: '/board/1',
        publishedAt: [2026, 1, 2, 3, 4, 5],
        name: 'admin',
        checked: false,
        del: false,
      };
      res.write(`id: ${id}_${n}\nevent: sse\ndata: ${JSON.stringify(data)}\n\n`);
    }
  }
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
