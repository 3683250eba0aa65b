import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Shared by all connections of a process: a read is handled before the next one begins. */
const READ_BUFFER = Buffer.allocUnsafe(1024 * 1024);

export interface TcpEvents {
  /** Called once the connection is open. @returns what to send first */
  greeting(): string | Buffer;
  /**
   * Handles the frame at `at`; the bytes are valid during the call.
   * @returns where the next one begins; undefined if this one is incomplete
   */
  read(bytes: Buffer, at: number): number | undefined;
  /** The connection failed or was closed by the server. */
  closed(reason: string): void;
}

/** Where to connect, and whether over TLS. */
export interface Address {
  host: string;
  port: number;
  secure?: boolean;
}

/** A TCP connection of minimal cost: no streams, and only incomplete frames are copied. */
export class TcpClient {
  readonly #socket: Socket;
  readonly #events: TcpEvents;
  #rest: Buffer | undefined;
  #closed = false;

  constructor({ host, port, secure }: Address, events: TcpEvents) {
    this.#events = events;
    const callback = (length: number, bytes: Uint8Array) => {
      this.#read((bytes as Buffer).subarray(0, length));
      return true;
    };
    const options = { host, port, noDelay: true, onread: { buffer: READ_BUFFER, callback } };
    // Node's types lack the option `onread` of tls.connect.
    this.#socket = secure
      ? connectTls({ ...options, ...(isIP(host) ? {} : { servername: host }) } as ConnectionOptions)
      : connect(options);
    this.#socket.on(secure ? 'secureConnect' : 'connect', () => this.#socket.write(events.greeting()));
    this.#socket.on('error', (error) => this.fail(error.message));
    this.#socket.on('close', () => this.fail('closed by the server'));
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(data: string | Buffer): void {
    this.#socket.write(data);
  }

  /** Closes the connection with a `closed` event. */
  fail(reason: string): void {
    if (this.#closed) return;
    this.cut();
    this.#events.closed(reason);
  }

  /** Closes the connection without one. */
  cut(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    while (at < bytes.length && !this.#closed) {
      const next = this.#events.read(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    this.#rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
  }
}

/** Whether the bytes at `from` begin with the prefix; for a few bytes cheaper than `Buffer.compare`. */
export function startsWith(bytes: Buffer, from: number, prefix: Buffer): boolean {
  for (let i = 0; i < prefix.length; i += 1) if (bytes[from + i] !== prefix[i]) return false;
  return true;
}
