import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from '../worker-process.js';
import { createFrameHandler, OPEN } from './message-protocol.js';

/** A plain ws server: rooms are sets, and a delivery is a `send` to each member. Nothing is stored. */
const rooms = new Map<number, Set<WebSocket>>();
const handleFrame = createFrameHandler();
const server = createServer();

new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (ws) => {
  ws.send(OPEN);
  ws.on('message', (data) =>
    handleFrame(data.toString(), {
      send: (frame) => ws.send(frame),
      join(chatNo) {
        const room = rooms.get(chatNo) ?? new Set();
        rooms.set(chatNo, room.add(ws));
        ws.on('close', () => room.delete(ws));
      },
      publish(chatNo, frame) {
        for (const member of rooms.get(chatNo) ?? []) member.send(frame);
      },
    }),
  );
});
listen(server);
