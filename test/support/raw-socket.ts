import type { Socket } from 'node:net';
import { createReceivedLog } from './eventually.js';
import { openTcp } from './raw-connection.js';

/** A WebSocket without a client library, to send what a hostile or broken program sends. */
export interface RawSocket {
  socket: Socket;
  /** Texts received, in order. */
  heard: string[];
  /** The first text that matches, received already or later. */
  next(pattern: RegExp): Promise<string>;
  send(text: string): void;
  closed: Promise<void>;
}

/** A handshake request for the sockets' path. @param headers further header lines */
export function handshakeRequest(query = 'EIO=4&transport=websocket', headers: string[] = []): string {
  return [
    `GET /socket.io/?${query} HTTP/1.1`,
    'Host: x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
    '',
    '',
  ].join('\r\n');
}

/** A text frame as clients send it, masked, here with zeros (RFC 6455, section 5.2). */
function textFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const length =
    body.length < 126
      ? Buffer.from([0x80 | body.length])
      : body.length < 65_536
        ? Buffer.from([0x80 | 126, body.length >> 8, body.length & 255])
        : Buffer.concat([Buffer.from([0x80 | 127, 0, 0, 0, 0]), uint32(body.length)]);
  return Buffer.concat([Buffer.from([0x81]), length, Buffer.alloc(4), body]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The first frame of these bytes and its end; undefined while it is incomplete. */
function firstFrame(bytes: Buffer): { text: string; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? bytes.readUInt32BE(6) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + length) return undefined;
  return { text: bytes.toString('utf8', start, start + length), end: start + length };
}

/** Opens one; resolves once the handshake is answered or refused. */
export async function rawSocket(base: string, query?: string, headers?: string[]): Promise<RawSocket> {
  const socket = openTcp(base);
  const received = createReceivedLog<string>();
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(handshakeRequest(query, headers));
  let bytes = Buffer.alloc(0);
  let isOpen = false;
  await new Promise<void>((resolve) => {
    void closed.then(resolve);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const head = isOpen ? -1 : bytes.indexOf('\r\n\r\n');
      if (head >= 0) {
        isOpen = true;
        bytes = bytes.subarray(head + 4);
        resolve();
      }
      for (let frame = isOpen && firstFrame(bytes); frame; frame = firstFrame(bytes)) {
        received.add(frame.text);
        bytes = bytes.subarray(frame.end);
      }
    });
  });
  return {
    socket,
    heard: received.entries,
    next: (pattern) => received.next((text) => pattern.test(text)),
    send: (text) => void socket.write(textFrame(text)),
    closed,
  };
}
