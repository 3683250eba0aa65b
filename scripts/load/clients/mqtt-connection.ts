import { connect } from 'node:net';
import { messageFrame } from '../message-frame.js';
import type { OpenConnection } from './connection.js';

/** Packet types of MQTT 3.1.1, in the upper half of the first byte. */
const [CONNACK, PUBLISH, SUBACK] = [2, 3, 9];

const READ_BUFFER = Buffer.allocUnsafe(256 * 1024);

let clients = 0;

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function packet(first: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  let left = body.length;
  do {
    const low = left % 128;
    left = Math.floor(left / 128);
    length.push(left > 0 ? low | 0x80 : low);
  } while (left > 0);
  return Buffer.concat([Buffer.from([first, ...length]), body]);
}

/** A connection of MQTT 3.1.1 at quality 0 over TCP, which is what mosquitto does at its cheapest. */
export const openMqtt: OpenConnection = (target, spec, events) =>
  new Promise((resolve, reject) => {
    const topic = text(`room/${spec.room ?? 0}`);
    let rest: Buffer | undefined;
    let ready = false;
    let over = false;

    function isReady(): void {
      ready = true;
      resolve({
        send: (content, count) =>
          socket.write(packet(0x30, topic, Buffer.from(messageFrame(spec.room ?? 0, content, count)))),
        cut() {
          over = true;
          socket.destroy();
        },
      });
    }

    function end(reason: string): void {
      if (over) return;
      over = true;
      socket.destroy();
      if (ready) events.closed(reason);
      else reject(new Error(reason));
    }

    function take(type: number, bytes: Buffer, from: number, to: number): void {
      if (type === PUBLISH) events.heard(bytes, from + 2 + bytes.readUInt16BE(from), to);
      else if (type === SUBACK) isReady();
      else if (type === CONNACK) {
        if (bytes[from + 1] !== 0) end(`refused with code ${bytes[from + 1]}`);
        else if (spec.sender) isReady();
        else socket.write(packet(0x82, Buffer.from([0, 1]), topic, Buffer.from([0])));
      }
    }

    function read(chunk: Buffer): void {
      const input = rest ? Buffer.concat([rest, chunk]) : chunk;
      rest = undefined;
      let at = 0;
      while (at + 2 <= input.length && !over) {
        let [length, scale, body] = [0, 1, at + 1];
        for (;;) {
          const byte = input[body];
          if (byte === undefined) break;
          body += 1;
          length += (byte & 0x7f) * scale;
          scale *= 128;
          if (byte < 0x80) break;
        }
        if (body + length > input.length) break;
        take((input[at] as number) >> 4, input, body, body + length);
        at = body + length;
      }
      if (at < input.length) rest = Buffer.from(input.subarray(at));
    }

    const socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length, bytes) => {
          read((bytes as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    socket.on('connect', () => {
      clients += 1;
      const id = text(`load-${process.pid}-${clients}`);
      socket.write(packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 0]), id));
    });
    socket.on('error', (error) => end(error.message));
    socket.on('close', () => end('closed by the server'));
  });
