import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { reportReady } from '../worker-process.js';
import { createFrameHandler, OPEN } from './message-protocol.js';

/** A plain ws server: rooms are sets, and a delivery is a `send` to each member. Nothing is stored. */
const rooms = new Map<number, Set<WebSocket>>();
const handleFrame = createFrameHandler();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, backlog: 4096 });

server.on('connection', (ws) => {
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
server.on('listening', () => reportReady((server.address() as AddressInfo).port));
