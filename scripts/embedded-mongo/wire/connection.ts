import type { Socket } from 'node:net';
import { dispatch } from '../commands/dispatch.js';
import type { Engine } from '../commands/engine.js';
import { errorReply } from '../values/errors.js';
import { encodeReply, HEADER_BYTES, messageLength, ProtocolError, parseRequest } from './messages.js';

/** Unprocessed bytes above which reading from a client is paused. */
const PAUSE_BYTES = 1024 * 1024;

/**
 * Serves one client: cuts the byte stream into messages and answers them one after another. A broken frame closes
 * this connection and nothing else.
 */
export class Connection {
  #chunks: Buffer[] = [];
  #buffered = 0;
  #busy = false;
  readonly #socket: Socket;
  readonly #engine: Engine;

  constructor(socket: Socket, engine: Engine) {
    this.#socket = socket;
    this.#engine = engine;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // 'close' follows.
    socket.on('error', () => socket.destroy());
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (this.#busy) {
      if (this.#buffered > PAUSE_BYTES) this.#socket.pause();
      return;
    }
    void this.#serve();
  }

  async #serve(): Promise<void> {
    this.#busy = true;
    try {
      for (let message = this.#nextMessage(); message; message = this.#nextMessage())
        await this.#answer(message);
    } catch {
      // A ProtocolError or a failed write: the stream cannot be continued.
      this.#socket.destroy();
    }
    this.#busy = false;
    if (this.#socket.isPaused() && !this.#socket.destroyed) this.#socket.resume();
  }

  /** The next whole message, or undefined until it has arrived. */
  #nextMessage(): Buffer | undefined {
    if (this.#buffered < HEADER_BYTES || this.#socket.destroyed) return undefined;
    if ((this.#chunks[0] as Buffer).length < HEADER_BYTES) this.#join();
    const length = messageLength(this.#chunks[0] as Buffer);
    if (this.#buffered < length) {
      // The rest of a long message is needed, however much is buffered.
      this.#socket.resume();
      return undefined;
    }
    if ((this.#chunks[0] as Buffer).length < length) this.#join();
    const whole = this.#chunks[0] as Buffer;
    if (whole.length === length) this.#chunks.shift();
    else this.#chunks[0] = whole.subarray(length);
    this.#buffered -= length;
    return whole.subarray(0, length);
  }

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }

  async #answer(message: Buffer): Promise<void> {
    let reply: Buffer | undefined;
    try {
      const request = parseRequest(message);
      const result = await dispatch(this.#engine, request);
      if (request.wantsReply) reply = encodeReply(request, result);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // The frame is valid but its document is not, or the result cannot be encoded.
      reply = encodeReply({ requestId: message.readInt32LE(4), legacy: false }, errorReply(error));
    }
    if (!reply || this.#socket.destroyed) return;
    if (!this.#socket.write(reply)) await this.#drained();
  }

  /** Waits until a slow client has read the reply, before its next request is handled. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#socket.off('drain', done);
        this.#socket.off('close', done);
        resolve();
      };
      this.#socket.once('drain', done);
      this.#socket.once('close', done);
    });
  }
}
