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

/**
 * A frame as clients send it, masked with zeros (RFC 6455, section 5.2).
 * @param odd what is unusual: flags and opcode (0x81 is a whole text), a length that is not the payload's, no mask
 */
export function clientFrame(
  payload: Uint8Array,
  odd: { first?: number; length?: number | undefined; masked?: boolean } = {},
): Buffer {
  const { first = 0x81, length = payload.length, masked = true } = odd;
  const size = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const head = Buffer.alloc(size + (masked ? 4 : 0));
  head.writeUInt8(first, 0);
  head.writeUInt8((masked ? 128 : 0) | (size === 2 ? length : size === 4 ? 126 : 127), 1);
  if (size === 4) head.writeUInt16BE(length, 2);
  if (size === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
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

/** Opens one; resolves once the handshake is answered or refused. @param socket its connection, by default a new one */
export async function rawSocket(
  base: string,
  query?: string,
  headers?: string[],
  socket = openTcp(base),
): Promise<RawSocket> {
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
    send: (text) => void socket.write(clientFrame(Buffer.from(text))),
    closed,
  };
}
