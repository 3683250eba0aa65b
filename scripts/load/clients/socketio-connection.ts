import { randomBytes } from 'node:crypto';
import type { OpenConnection } from './connection.js';
import { startsWith } from './tcp-client.js';
import { WebSocketClient } from './web-socket.js';

const PATH = '/socket.io/?EIO=4&transport=websocket';

/** Keeps client ids apart from those of every other process and run. */
const RUN = randomBytes(6).toString('base64url');

/** Acknowledgement id of the join; those of messages are their counts, from 1. */
const JOIN_ACK = 0;

/** Characters that identify a frame: Engine.IO's packet type and, in a message, Socket.IO's. */
const TYPE_LENGTH = 2;

/** A connection of Socket.IO's protocol (5, over Engine.IO 4); parses no more of a frame than needed. */
export const openSocketIo: OpenConnection = (target, { room, after, token, session }, events) => {
  const delivery = Buffer.from(`42["${target.event ?? 'message'}"`);
  let ready = false;

  function becomeReady(): void {
    ready = true;
    events.ready();
  }

  function join(bytes: Buffer, from: number, to: number): void {
    events.answered?.(bytes, from, to);
    if (room === undefined) becomeReady();
    else client.send(`42${JOIN_ACK}["room:join",${JSON.stringify({ chatNo: room, after })}]`);
  }

  function fail(reason: string): void {
    client.cut();
    events.closed(reason);
  }

  /** `43`, the id, and the body in brackets. */
  function readAck(bytes: Buffer, from: number, to: number): void {
    const body = bytes.indexOf('[', from);
    const ok = bytes.toString('latin1', body, Math.min(to, body + 14)) === '[{"status":200';
    if (!ready) events.answered?.(bytes, from, to);
    if (ready) events.acknowledged(ok, Number(bytes.toString('latin1', from + TYPE_LENGTH, body)));
    else if (ok) becomeReady();
    else fail(`the room was not joined: ${bytes.toString('utf8', from, to)}`);
  }

  function readFrame(bytes: Buffer, from: number, to: number): void {
    if (startsWith(bytes, from, delivery)) {
      events.delivered(bytes, from, to);
      return;
    }
    const type = bytes.toString('latin1', from, Math.min(to, from + TYPE_LENGTH));
    if (type === '43') readAck(bytes, from, to);
    else if (type === '2') client.send('3');
    else if (type === '0{') client.send(`40${JSON.stringify({ token, ...session })}`);
    else if (type === '40') join(bytes, from, to);
    else if (type === '44') fail(`refused: ${bytes.toString('utf8', from, to)}`);
  }

  const client = new WebSocketClient(target, PATH, {
    open() {},
    text: readFrame,
    closed: events.closed,
  });

  return {
    send(content, count) {
      client.send(
        `42${count}["message:send",{"chatNo":${room ?? 0},"contentType":"text","content":"${content}","clientId":"${RUN}-${count}"}]`,
      );
    },
    cut: () => client.cut(),
  };
};
