import { eventFrame, messageJson } from '../messages.js';
import type { OpenConnection } from './connection.js';
import { TcpClient } from './tcp-client.js';

/** Packet types of MQTT 3.1.1: the upper half of the first byte. */
const [CONNACK, PUBLISH, SUBACK] = [2, 3, 9];

let clients = 0;

/** A string, preceded by its length. */
function text(value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value)]);
}

function packet(first: number, ...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const head = [first];
  let left = body.length;
  do {
    head.push(left > 127 ? (left & 0x7f) | 0x80 : left);
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from(head), body]);
}

/** Where the body of the packet at `at` begins and ends; undefined if it is incomplete. */
function bodyAt(bytes: Buffer, at: number): [from: number, to: number] | undefined {
  let length = 0;
  for (let i = at + 1; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    length |= (byte & 0x7f) << (7 * (i - at - 1));
    if (byte < 0x80) return i + 1 + length <= bytes.length ? [i + 1, i + 1 + length] : undefined;
  }
  return undefined;
}

/** A connection of MQTT 3.1.1 at QoS 0 over TCP, mosquitto's cheapest. */
export const openMqtt: OpenConnection = (target, { room = 0, sender }, events) => {
  const topic = text(`room/${room}`);

  function readPacket(type: number, bytes: Buffer, from: number, to: number): void {
    if (type === PUBLISH) events.delivered(bytes, from + 2 + bytes.readUInt16BE(from), to);
    else if (type === SUBACK) events.ready();
    else if (type !== CONNACK) return;
    else if (bytes[from + 1] !== 0) tcp.fail(`refused with code ${bytes[from + 1]}`);
    else if (sender) events.ready();
    else tcp.write(packet(0x82, Buffer.from([0, 1]), topic, Buffer.from([0])));
  }

  const tcp = new TcpClient(target, {
    greeting() {
      clients += 1;
      return packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 0]), text(`load-${process.pid}-${clients}`));
    },
    read(bytes, at) {
      const body = bodyAt(bytes, at);
      if (!body) return undefined;
      readPacket((bytes[at] as number) >> 4, bytes, ...body);
      return body[1];
    },
    closed: events.closed,
  });

  return {
    send: (content, count) =>
      tcp.write(packet(0x30, topic, Buffer.from(eventFrame('message', messageJson(room, content, count))))),
    cut: () => tcp.cut(),
  };
};
