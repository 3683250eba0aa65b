import { createServer, type ServerResponse } from 'node:http';
import { formatEvent, RETRY_MS, STREAM_HEADERS } from '../../../http/sse/event-format.js';
import { notificationJson } from '../messages.js';
import { handleCommands, listen } from '../worker-process.js';

/**
 * The limit of event streams: bare node responses. On the command `{content, streams}` it writes an event to each,
 * or to the first ones.
 */
const streams = new Set<ServerResponse>();
let opened = 0;

const server = createServer((req, res) => {
  opened += 1;
  req.socket.setTimeout(0);
  req.socket.setNoDelay(true);
  res.writeHead(200, STREAM_HEADERS);
  const greeting = formatEvent(`${opened}_0`, `EventStream Created. [userId=${opened}]`);
  res.write(`retry: ${RETRY_MS}\n${greeting}`);
  streams.add(res);
  res.on('close', () => streams.delete(res));
});

handleCommands(({ content, streams: most = streams.size }: { content: string; streams?: number }) => {
  let id = 0;
  for (const res of streams) {
    if (id === most) break;
    id += 1;
    res.write(formatEvent(`${id}_1`, notificationJson(id, content)));
  }
});
listen(server);
