import { connect, type Socket } from 'node:net';

/** A WebSocket without a client library on it: what a hostile or broken program sends, and how it reads. */
export interface RawSocket {
  socket: Socket;
  /** Texts received, in order. */
  heard: string[];
  send(text: string): void;
  closed: Promise<void>;
}

/**
 * The bytes of a handshake request for the sockets' path.
 * @param headers further header lines
 */
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

/** A text frame as a client has to send it, masked, here with zeros (RFC 6455, section 5.2). */
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

/** The first frame of these bytes and where it ends; undefined while it is not all there. */
function firstFrame(bytes: Buffer): { text: string; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? bytes.readUInt32BE(6) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + length) return undefined;
  return { text: bytes.toString('utf8', start, start + length), end: start + length };
}

/** Opens one; resolves once the handshake is answered, whatever the answer is. */
export async function rawSocket(base: string, query?: string, headers?: string[]): Promise<RawSocket> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  const heard: string[] = [];
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // A server that refuses may reset the connection; `closed` tells.
  socket.on('error', () => {});
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
        heard.push(frame.text);
        bytes = bytes.subarray(frame.end);
      }
    });
  });
  return { socket, heard, closed, send: (text) => void socket.write(textFrame(text)) };
}
