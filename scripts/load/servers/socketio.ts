import { App, us_socket_local_port } from 'uWebSockets.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MongoClient } from 'mongodb';
import { Server, type Socket } from 'socket.io';
import { messagePayload } from '../message-frame.js';
import { openMessages, storedMessage } from './grouped-store.js';

/**
 * The textbook server: Socket.IO, rooms, acknowledgements. `socketio.js uws|ws [URI]`: on which engine,
 * and with a database's address, one findOneAndUpdate on the room and one insertOne for each message.
 */
const [engine, uri] = process.argv.slice(2);

/** What every message goes through before it is sent on; its number in the room. */
type Store = (chatNo: number, content: string, clientId: string) => Promise<number>;

async function textbookStore(address: string): Promise<Store> {
  const client = new MongoClient(address, {
    writeConcern: { w: 'majority', journal: true },
    maxPoolSize: 20,
  });
  await client.connect();
  const rooms = client.db().collection<{ _id: number; lastSeq: number }>('rooms');
  const messages = await openMessages(address);
  return async (chatNo, content, clientId) => {
    const room = await rooms.findOneAndUpdate(
      { _id: chatNo },
      { $inc: { lastSeq: 1 }, $set: { latest: { content, sentAt: new Date() } } },
      { returnDocument: 'after' },
    );
    const seq = room?.lastSeq ?? 0;
    await messages.insertOne(storedMessage(chatNo, seq, content, clientId));
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

const store = uri ? await textbookStore(uri) : memoryStore();
const io = new Server({
  serveClient: false,
  transports: ['websocket'],
  // As the service has them (gateway/server.ts).
  pingInterval: 20_000,
  pingTimeout: 10_000,
});

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
      const seq = await store(chatNo, content, clientId);
      const message = messagePayload(chatNo, content, seq);
      io.to(`room:${chatNo}`).emit('message', message);
      ack({ status: 200, message });
    },
  );
});

process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));

if (engine === 'uws') {
  const app = App();
  io.attachApp(app);
  app.listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('no port');
    process.send?.({ port: us_socket_local_port(socket) });
  });
} else {
  const server = createServer();
  io.attach(server);
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}
