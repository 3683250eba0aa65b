import { App, us_socket_local_port } from 'uWebSockets.js';
import { createSharedInserts } from '../../../domain/chat/shared-inserts.js';
import { connectMongo } from '../../../domain/platform/mongo/connection.js';
import { eventFrame, notificationJson } from '../messages.js';
import { handleCommands, reportReady } from '../worker-process.js';
import { createFrameHandler, OPEN } from './message-protocol.js';

/**
 * The limit: a bare uWebSockets.js loop that publishes the service's bytes. With a database's URI as its argument
 * it first stores the same records by the same grouped inserts. No authorization, presence, room events or
 * order between processes.
 *
 * On the command `{content}` it publishes a notification to each room.
 */
const uri = process.argv[2];
if (uri) await connectMongo(uri);
const inserts = createSharedInserts();
const handleFrame = createFrameHandler(uri ? (record) => inserts.add({ record }) : undefined);
const rooms = new Set<number>();

const app = App();
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
      publish: (chatNo, frame) => app.publish(`room:${chatNo}`, frame),
    });
  },
});

handleCommands(({ content }: { content: string }) => {
  for (const no of rooms)
    app.publish(`room:${no}`, eventFrame('notification', notificationJson(no, content)));
});
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  reportReady(us_socket_local_port(socket));
});
