import { randomBytes } from 'node:crypto';
import { type Address, TcpClient } from './tcp-client.js';

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

export interface WebSocketEvents {
  open(): void;
  /** A text message; the bytes are valid during the call. */
  text(bytes: Buffer, from: number, to: number): void;
  closed(reason: string): void;
}

/** A frame with the zero mask, which leaves the payload unchanged; shorter than 64 KiB. */
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

/** Where the payload of the frame at `at` begins and ends; undefined if it is incomplete. */
function payloadAt(bytes: Buffer, at: number): [from: number, to: number] | undefined {
  if (at + 2 > bytes.length) return undefined;
  let length = (bytes[at + 1] as number) & 0x7f;
  const from = at + (length < 126 ? 2 : length === 126 ? 4 : 10);
  if (from > bytes.length) return undefined;
  if (length === 126) length = bytes.readUInt16BE(at + 2);
  else if (length === 127) length = Number(bytes.readBigUInt64BE(at + 2));
  return from + length <= bytes.length ? [from, from + length] : undefined;
}

/** A WebSocket client (RFC 6455) without fragments and extensions: the servers under load use neither. */
export class WebSocketClient {
  readonly #tcp: TcpClient;
  readonly #events: WebSocketEvents;
  #upgraded = false;

  /** @param protocol the subprotocol that it asks for */
  constructor(address: Address, path: string, events: WebSocketEvents, protocol?: string) {
    const { host, port } = address;
    this.#events = events;
    this.#tcp = new TcpClient(address, {
      greeting: () =>
        `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n` +
        `${protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n` : ''}\r\n`,
      read: (bytes, at) => (this.#upgraded ? this.#frame(bytes, at) : this.#upgrade(bytes)),
      closed: events.closed,
    });
  }

  send(text: string): void {
    this.#tcp.write(frameOf(TEXT, text));
  }

  cut(): void {
    this.#tcp.cut();
  }

  #upgrade(bytes: Buffer): number | undefined {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const status = bytes.toString('latin1', 0, bytes.indexOf('\r'));
    this.#upgraded = status.includes(' 101 ');
    if (this.#upgraded) this.#events.open();
    else this.#tcp.fail(`refused: ${status}`);
    return end + 4;
  }

  #frame(bytes: Buffer, at: number): number | undefined {
    const payload = payloadAt(bytes, at);
    if (!payload) return undefined;
    const opcode = (bytes[at] as number) & 0xf;
    if (opcode === TEXT) this.#events.text(bytes, ...payload);
    else if (opcode === PING) this.#tcp.write(frameOf(PONG, bytes.subarray(...payload)));
    else if (opcode === CLOSE) this.#tcp.fail('closed by the server');
    return payload[1];
  }
}
