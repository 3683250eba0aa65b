import { createServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import { openDriver, openMessages } from '../driver.js';
import { messagePayload, messageRecord } from '../messages.js';
import { listen, reportReady } from '../worker-process.js';

/**
 * A textbook server: Socket.IO with rooms and acknowledgements. `socketio.js uws|ws [URI]`: the engine, and a
 * database for one findOneAndUpdate on the room and one insertOne per message. `socketio.js recovering`: on ws, with
 * connection state recovery. `socketio.js redis://…`: on ws, one of several processes over Redis.
 */
const [engine = 'ws', uri] = process.argv.slice(2);

/** Assigns a message its number in the room, and stores it. */
type Store = (chatNo: number, content: string, clientId: string) => Promise<number>;

async function databaseStore(address: string): Promise<Store> {
  const client = await openDriver(address);
  const rooms = client.db().collection<{ _id: number; lastSeq: number }>('rooms');
  const messages = await openMessages(address);
  return async (chatNo, content, clientId) => {
    const room = await rooms.findOneAndUpdate(
      { _id: chatNo },
      { $inc: { lastSeq: 1 }, $set: { latest: { content, sentAt: new Date() } } },
      { returnDocument: 'after' },
    );
    const seq = room?.lastSeq ?? 0;
    await messages.insertOne(messageRecord(chatNo, seq, content, clientId));
    return seq;
  };
}

function memoryStore(): Store {
  const sequences = new Map<number, number>();
  return async (chatNo) => {
    const seq = (sequences.get(chatNo) ?? 0) + 1;
    sequences.set(chatNo, seq);
    return seq;
  };
}

const store = uri ? await databaseStore(uri) : memoryStore();
const io = new Server({
  serveClient: false,
  transports: ['websocket'],
  // As in gateway/server.ts.
  pingInterval: 20_000,
  pingTimeout: 10_000,
  ...(engine === 'recovering' && { connectionStateRecovery: {} }),
});
if (engine.startsWith('redis:')) {
  const { createAdapter } = await import('@socket.io/redis-adapter');
  const { Redis } = await import('ioredis');
  io.adapter(createAdapter(new Redis(engine), new Redis(engine)));
}

type Ack = (answer: object) => void;

io.on('connection', (socket: Socket) => {
  socket.on('room:join', async ({ chatNo }: { chatNo: number }, ack: Ack) => {
    await socket.join(`room:${chatNo}`);
    ack({ status: 200 });
  });
  socket.on(
    'message:send',
    async (request: { chatNo: number; content: string; clientId: string }, ack: Ack) => {
      const { chatNo, content, clientId } = request;
      const message = messagePayload(chatNo, content, await store(chatNo, content, clientId));
      io.to(`room:${chatNo}`).emit('message', message);
      ack({ status: 200, message });
    },
  );
});

if (engine === 'uws') {
  // Not on top: there may be no binary for this Node.
  const { App, us_socket_local_port } = await import('uWebSockets.js');
  const app = App();
  io.attachApp(app);
  app.listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('no port');
    reportReady(us_socket_local_port(socket));
  });
} else {
  const server = createServer();
  io.attach(server);
  listen(server);
}
