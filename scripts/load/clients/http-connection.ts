import type { HttpCommand } from './http-worker.js';
import { TcpClient } from './tcp-client.js';

const CONTENT_LENGTH = /content-length: (\d+)/i;

type OnAnswer = (connection: HttpConnection, status: number | undefined, sentAt: number) => void;

/** A keep-alive connection with one request at a time; opened with the first one, and again after the server closed it. */
export class HttpConnection {
  readonly #command: HttpCommand;
  readonly #onAnswer: OnAnswer;
  readonly #requests: Buffer[];
  #next: number;
  #tcp: TcpClient | undefined;
  /** When the request under way was due, µs. */
  #sentAt: number | undefined;
  #status = 0;
  /** Bytes of the response's body that are missing; -1 before its head. */
  #left = -1;

  /** @param onAnswer gets the status, undefined if the server closed the connection instead */
  constructor(command: HttpCommand, onAnswer: OnAnswer) {
    const { host, port, paths, token } = command;
    const authorization = token ? `Authorization: ${token}\r\n` : '';
    this.#command = command;
    this.#onAnswer = onAnswer;
    this.#requests = paths.map((path) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`),
    );
    this.#next = Math.floor(Math.random() * paths.length);
  }

  /** @param dueAt µs, of `nowMicros`: the latency counts from then */
  request(dueAt: number): void {
    this.#left = -1;
    this.#sentAt = dueAt;
    this.#next = (this.#next + 1) % this.#requests.length;
    const request = this.#requests[this.#next] as Buffer;
    if (this.#tcp) this.#tcp.write(request);
    else this.#tcp = this.#open(request);
  }

  cut(): void {
    this.#tcp?.cut();
  }

  #open(request: Buffer): TcpClient {
    return new TcpClient(this.#command, {
      greeting: () => request,
      read: (bytes) => this.#read(bytes),
      closed: () => {
        this.#tcp = undefined;
        this.#end(undefined);
      },
    });
  }

  #read(bytes: Buffer): number | undefined {
    const body = this.#left < 0 ? this.#readHead(bytes) : 0;
    if (body === undefined) return undefined;
    this.#left -= bytes.length - body;
    if (this.#left <= 0) this.#end(this.#status);
    return bytes.length;
  }

  /** @returns where the body begins; undefined while the head is incomplete */
  #readHead(bytes: Buffer): number | undefined {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = bytes.toString('latin1', 0, end);
    this.#status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    this.#left = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
    return end + 4;
  }

  #end(status: number | undefined): void {
    const sentAt = this.#sentAt;
    this.#sentAt = undefined;
    if (sentAt !== undefined) this.#onAnswer(this, status, sentAt);
  }
}
