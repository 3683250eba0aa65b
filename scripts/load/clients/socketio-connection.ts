import { randomBytes } from 'node:crypto';
import type { ConnectionEvents, OpenConnection } from './connection.js';
import { WebSocketClient } from './web-socket.js';

const PATH = '/socket.io/?EIO=4&transport=websocket';

/** First bytes of packets: Engine.IO's type, then Socket.IO's. */
const [OPEN, PING, MESSAGE] = [0x30, 0x32, 0x34];
const [CONNECT, EVENT, ACK, CONNECT_ERROR] = [0x30, 0x32, 0x33, 0x34];
const QUOTE = 0x22;

/** Id of the acknowledgement that a join waits for; those of messages count up from there. */
const JOIN_ACK = 0;

/** What makes client ids differ from those of every other process, now and before. */
const RUN = `${randomBytes(6).toString('base64url')}-`;

/** A room:join, and what is sent to a room, as text of Socket.IO's protocol. */
function join(room: number, after?: number): string {
  return `42${JOIN_ACK}["room:join",${JSON.stringify({ chatNo: room, after })}]`;
}

function send(id: number, room: number, content: string, count: number): string {
  return `42${id}["message:send",{"chatNo":${room},"contentType":"text","content":"${content}","clientId":"${RUN}${count}"}]`;
}

/**
 * A connection of Socket.IO's protocol (4, over Engine.IO 4) by hand: connects with its token, enters its
 * room, counts what comes, and looks no deeper than it has to.
 */
export const openSocketIo: OpenConnection = (target, spec, events) =>
  new Promise((resolve, reject) => {
    const name = Buffer.from(target.event ?? 'message');
    let ready = false;
    let nextAck = JOIN_ACK + 1;

    function isEvent(bytes: Buffer, at: number): boolean {
      for (let i = 0; i < name.length; i += 1) if (bytes[at + i] !== name[i]) return false;
      return bytes[at + name.length] === QUOTE;
    }

    function isReady(): void {
      ready = true;
      resolve({
        send: (text, count) => {
          client.send(send(nextAck, spec.room ?? 0, text, count));
          nextAck += 1;
        },
        cut: () => client.cut(),
      });
    }

    function fail(why: string): void {
      client.cut();
      if (ready) events.closed(why);
      else reject(new Error(why));
    }

    /** An acknowledgement: `43` id `[` body. */
    function acknowledged(bytes: Buffer, from: number, to: number): void {
      const open = bytes.indexOf('[', from + 2);
      const good = bytes.toString('latin1', open, Math.min(to, open + 14)).startsWith('[{"status":200');
      if (ready) events.answered(good);
      else if (good) isReady();
      else fail(`the room was not entered: ${bytes.toString('utf8', from, to)}`);
    }

    const client = new WebSocketClient(target.host, target.port, PATH, {
      open() {},
      closed: fail,
      text(bytes, from, to) {
        const type = bytes[from];
        if (type === MESSAGE) {
          const kind = bytes[from + 1];
          if (kind === EVENT) {
            if (isEvent(bytes, from + 4)) events.heard(bytes, from, to);
          } else if (kind === ACK) acknowledged(bytes, from, to);
          else if (kind === CONNECT) {
            if (spec.room === undefined) isReady();
            else client.send(join(spec.room, spec.after));
          } else if (kind === CONNECT_ERROR) fail(`refused: ${bytes.toString('utf8', from, to)}`);
        } else if (type === PING) client.send('3');
        else if (type === OPEN) client.send(`40${JSON.stringify(spec.token ? { token: spec.token } : {})}`);
      },
    } satisfies LineLike);
  });

type LineLike = {
  open(): void;
  closed(reason: string): void;
  text: ConnectionEvents['heard'];
};
