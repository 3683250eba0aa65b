import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { messageFrame } from '../message-frame.js';
import { answerTo, HELLO, readRequest, WELCOME } from './frames.js';

/** A plain ws server: rooms are sets, a delivery is a `send` to each of them. Nothing is stored. */
const rooms = new Map<number, Set<WebSocket>>();
const sequences = new Map<number, number>();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, backlog: 4096 });

server.on('connection', (ws) => {
  ws.send(HELLO);
  ws.on('message', (data) => {
    const frame = data.toString();
    if (frame.startsWith('40')) ws.send(WELCOME);
    if (!frame.startsWith('42')) return;
    const request = readRequest(frame);
    const { chatNo, content = '' } = request.body;
    if (request.event === 'room:join') {
      const room = rooms.get(chatNo) ?? new Set();
      rooms.set(chatNo, room.add(ws));
      ws.on('close', () => room.delete(ws));
      ws.send(answerTo(request));
      return;
    }
    const seq = (sequences.get(chatNo) ?? 0) + 1;
    sequences.set(chatNo, seq);
    const message = messageFrame(chatNo, content, seq);
    for (const member of rooms.get(chatNo) ?? []) member.send(message);
    ws.send(answerTo(request, `,"message":${message.slice(13, -1)}`));
  });
});
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
