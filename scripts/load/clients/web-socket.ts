import { randomBytes } from 'node:crypto';
import { TcpClient } from './tcp-client.js';

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;

export interface WebSocketEvents {
  open(): void;
  /** A text message; the bytes are valid during the call. */
  text(bytes: Buffer, from: number, to: number): void;
  closed(reason: string): void;
}

/** A frame with the zero mask, which leaves the payload as it is; shorter than 64 KiB. */
function frameOf(opcode: number, payload: string | Buffer): Buffer {
  const length = Buffer.byteLength(payload);
  const head = length < 126 ? 6 : 8;
  const frame = Buffer.alloc(head + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | Math.min(length, 126);
  if (length >= 126) frame.writeUInt16BE(length, 2);
  if (typeof payload === 'string') frame.write(payload, head);
  else payload.copy(frame, head);
  return frame;
}

/** Where the payload of the frame at `at` begins and ends, past the end of the bytes if it is incomplete. */
function payloadAt(bytes: Buffer, at: number): [from: number, to: number] {
  const incomplete: [number, number] = [bytes.length, bytes.length + 1];
  if (at + 2 > bytes.length) return incomplete;
  const length = (bytes[at + 1] as number) & 0x7f;
  if (length < 126) return [at + 2, at + 2 + length];
  const from = at + (length === 126 ? 4 : 10);
  if (from > bytes.length) return incomplete;
  return [from, from + (length === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2)))];
}

/** A WebSocket client (RFC 6455) without fragments and extensions: the servers under load use neither. */
export class WebSocketClient {
  readonly #tcp: TcpClient;
  readonly #events: WebSocketEvents;
  #upgraded = false;

  constructor(host: string, port: number, path: string, events: WebSocketEvents) {
    this.#events = events;
    this.#tcp = new TcpClient(host, port, {
      greeting: () =>
        `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      read: (bytes) => this.#frames(bytes, this.#upgraded ? 0 : this.#upgrade(bytes)),
      closed: events.closed,
    });
  }

  send(text: string): void {
    this.#tcp.write(frameOf(TEXT, text));
  }

  cut(): void {
    this.#tcp.cut();
  }

  /** @returns where the frames begin; 0 while the response is incomplete */
  #upgrade(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return 0;
    const status = bytes.toString('latin1', 0, bytes.indexOf('\r'));
    if (status.includes(' 101 ')) {
      this.#upgraded = true;
      this.#events.open();
    } else this.#tcp.fail(`refused: ${status}`);
    return end + 4;
  }

  /** Handles all complete frames. @returns where the rest begins */
  #frames(bytes: Buffer, begin: number): number {
    let at = begin;
    while (this.#upgraded && !this.#tcp.closed) {
      const [from, to] = payloadAt(bytes, at);
      if (to > bytes.length) break;
      this.#frame((bytes[at] as number) & 0xf, bytes, from, to);
      at = to;
    }
    return at;
  }

  #frame(opcode: number, bytes: Buffer, from: number, to: number): void {
    if (opcode === TEXT) this.#events.text(bytes, from, to);
    else if (opcode === PING) this.#tcp.write(frameOf(0xa, bytes.subarray(from, to)));
    else if (opcode === CLOSE) this.#tcp.fail('closed by the server');
  }
}
