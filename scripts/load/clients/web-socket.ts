import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;

/** All sockets of a process read into this: a read is handled before the next one begins. */
const READ_BUFFER = Buffer.allocUnsafe(256 * 1024);

export interface WebSocketEvents {
  open(): void;
  /** A whole text message; the bytes are valid for the length of the call. */
  text(bytes: Buffer, from: number, to: number): void;
  closed(reason: string): void;
}

/**
 * A WebSocket client (RFC 6455) that costs next to nothing: no streams, no copies, no fragments, no
 * extensions. It serves to load servers that are known, and takes nothing but whole frames from them.
 */
export class WebSocketClient {
  private readonly socket: Socket;
  private readonly events: WebSocketEvents;
  private rest: Buffer | undefined;
  private upgraded = false;
  private over = false;

  constructor(host: string, port: number, path: string, events: WebSocketEvents) {
    this.events = events;
    this.socket = connect({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length, bytes) => {
          this.read(bytes as Buffer, length);
          return true;
        },
      },
    });
    this.socket.on('connect', () => {
      const key = randomBytes(16).toString('base64');
      this.socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      );
    });
    this.socket.on('error', (error) => this.end(error.message));
    this.socket.on('close', () => this.end('closed by the server'));
  }

  /** Sends a text message. The mask that the protocol demands is zeros, which leaves the bytes as they are. */
  send(text: string): void {
    const length = Buffer.byteLength(text);
    const head = length < 126 ? 6 : 8;
    const frame = Buffer.alloc(head + length);
    frame[0] = 0x80 | TEXT;
    if (length < 126) frame[1] = 0x80 | length;
    else {
      frame[1] = 0x80 | 126;
      frame.writeUInt16BE(length, 2);
    }
    frame.write(text, head);
    this.socket.write(frame);
  }

  cut(): void {
    this.over = true;
    this.socket.destroy();
  }

  private end(reason: string): void {
    if (this.over) return;
    this.cut();
    this.events.closed(reason);
  }

  private read(bytes: Buffer, length: number): void {
    let input = bytes;
    let at = 0;
    let end = length;
    if (this.rest) {
      input = Buffer.concat([this.rest, bytes.subarray(0, length)]);
      end = input.length;
      this.rest = undefined;
    }
    if (!this.upgraded) {
      const head = input.subarray(0, end).indexOf('\r\n\r\n');
      if (head < 0) {
        this.rest = Buffer.from(input.subarray(0, end));
        return;
      }
      const line = input.toString('latin1', 0, input.indexOf('\r'));
      if (!line.includes(' 101 ')) {
        this.end(`refused: ${line}`);
        return;
      }
      this.upgraded = true;
      at = head + 4;
      this.events.open();
    }
    at = this.frames(input, at, end);
    if (at < end && !this.over) this.rest = Buffer.from(input.subarray(at, end));
  }

  /** Takes all whole frames. @returns where the rest begins */
  private frames(input: Buffer, from: number, end: number): number {
    let at = from;
    while (at + 2 <= end && !this.over) {
      const opcode = (input[at] as number) & 0xf;
      let length = (input[at + 1] as number) & 0x7f;
      let body = at + 2;
      if (length === 126) {
        if (at + 4 > end) return at;
        length = input.readUInt16BE(at + 2);
        body = at + 4;
      } else if (length === 127) {
        if (at + 10 > end) return at;
        length = Number(input.readBigUInt64BE(at + 2));
        body = at + 10;
      }
      if (body + length > end) return at;
      if (opcode === TEXT) this.events.text(input, body, body + length);
      else if (opcode === PING) this.pong(input.subarray(body, body + length));
      else if (opcode === CLOSE) this.end('closed by the server');
      at = body + length;
    }
    return at;
  }

  private pong(payload: Buffer): void {
    const head = Buffer.from([0x8a, 0x80 | payload.length, 0, 0, 0, 0]);
    this.socket.write(Buffer.concat([head, payload]));
  }
}
