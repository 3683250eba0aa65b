import { App, us_socket_local_port } from 'uWebSockets.js';
import { createSharedInserts } from '../../../domain/chat/shared-inserts.js';
import { connectMongo } from '../../../domain/platform/mongo/connection.js';
import { eventFrame, notificationJson } from '../messages.js';
import { handleCommands, reportReady } from '../worker-process.js';
import { createFrameHandler, OPEN } from './message-protocol.js';

/**
 * The limit: a bare uWebSockets.js loop that publishes the service's bytes. With a database's URI as its argument
 * it first stores the same records by the same grouped inserts. With that of a Redis server it is one of several, each
 * of which publishes what any of them gets, and acknowledges it before Redis has it. No authorization, presence, room events or order between processes.
 *
 * On the command `{content}` it publishes a notification to each room.
 */
const [address = ''] = process.argv.slice(2);
const uri = address.startsWith('mongodb:') ? address : undefined;
if (uri) await connectMongo(uri);
const inserts = createSharedInserts();
const handleFrame = createFrameHandler(uri ? (record) => inserts.add({ record }) : undefined);
const rooms = new Set<number>();

const app = App();
const publishHere = (chatNo: number, frame: string) => app.publish(`room:${chatNo}`, frame);

/** The Redis channel that carries each message to all processes, after its room's number and a space. */
const CHANNEL = 'messages';

/** @returns publishes to a room on all processes */
async function publishOverRedis(url: string): Promise<(chatNo: number, frame: string) => unknown> {
  const { Redis } = await import('ioredis');
  const [sending, receiving] = [new Redis(url), new Redis(url)];
  receiving.on('message', (_channel, text) => {
    const end = text.indexOf(' ');
    publishHere(Number(text.slice(0, end)), text.slice(end + 1));
  });
  await receiving.subscribe(CHANNEL);
  return (chatNo, frame) => sending.publish(CHANNEL, `${chatNo} ${frame}`);
}

const publish = address.startsWith('redis:') ? await publishOverRedis(address) : publishHere;

app.ws('/socket.io/', {
  maxBackpressure: 1024 * 1024,
  idleTimeout: 0,
  open(ws) {
    ws.send(OPEN);
  },
  message(ws, data) {
    handleFrame(Buffer.from(data).toString(), {
      send: (frame) => ws.send(frame),
      join(chatNo) {
        rooms.add(chatNo);
        ws.subscribe(`room:${chatNo}`);
      },
      publish,
    });
  },
});

handleCommands(({ content }: { content: string }) => {
  for (const no of rooms) publishHere(no, eventFrame('notification', notificationJson(no, content)));
});
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  reportReady(us_socket_local_port(socket));
});
