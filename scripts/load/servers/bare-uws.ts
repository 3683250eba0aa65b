import { App, us_socket_local_port } from 'uWebSockets.js';
import { messageFrame } from '../message-frame.js';
import { answerTo, HELLO, notificationFrame, readRequest, WELCOME } from './frames.js';
import { createGroupedStore, openMessages, storedMessage } from './grouped-store.js';

/**
 * The limit: a bare uWebSockets.js loop that takes the service's frames and publishes the service's bytes.
 * With a database's address as its argument it stores the same documents before, by grouped insertMany.
 * No authorisation, no presence, no room events, no order between processes.
 *
 * Told `{announce: n}`, it publishes n notifications to each topic.
 */
const uri = process.argv[2];
const store = uri ? createGroupedStore(await openMessages(uri)) : undefined;
const sequences = new Map<number, number>();

const app = App();
app.ws('/socket.io/', {
  maxBackpressure: 1024 * 1024,
  idleTimeout: 0,
  open(ws) {
    ws.send(HELLO);
  },
  message(ws, data) {
    const frame = Buffer.from(data).toString();
    if (frame.startsWith('40')) ws.send(WELCOME);
    if (!frame.startsWith('42')) return;
    const request = readRequest(frame);
    const { chatNo, content = '', clientId = '' } = request.body;
    const topic = `room:${chatNo}`;
    if (request.event === 'room:join') {
      ws.subscribe(topic);
      sequences.set(chatNo, sequences.get(chatNo) ?? 0);
      ws.send(answerTo(request));
      return;
    }
    const seq = (sequences.get(chatNo) ?? 0) + 1;
    sequences.set(chatNo, seq);
    const publish = () => {
      const message = messageFrame(chatNo, content, seq);
      app.publish(topic, message);
      ws.send(answerTo(request, `,"message":${message.slice(13, -1)}`));
    };
    if (store) void store.add(storedMessage(chatNo, seq, content, clientId)).then(publish);
    else publish();
  },
});

process.on('message', ({ announce, content }: { announce: number; content: string }) => {
  for (let n = 1; n <= announce; n += 1) {
    for (const chatNo of sequences.keys()) app.publish(`room:${chatNo}`, notificationFrame(chatNo, content));
  }
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  process.send?.({ port: us_socket_local_port(socket) });
});
