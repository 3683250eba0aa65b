import { once } from 'node:events';
import type { Socket } from 'node:net';
import { pipeline, Writable } from 'node:stream';
import { dispatch } from '../commands/dispatch.js';
import type { Engine } from '../commands/engine.js';
import { errorReply } from '../values/errors.js';
import { encodeReply, HEADER_BYTES, messageLength, ProtocolError, parseRequest } from './messages.js';

/**
 * Serves one client: answers its messages one after another, and does not read on from a client that has not taken
 * its reply. A broken frame closes this connection and nothing else.
 */
export function serveClient(socket: Socket, engine: Engine): void {
  socket.setNoDelay(true);
  // 'close' follows.
  socket.on('error', () => {});
  const messages = new Messages();
  // Not generators: a suspended one keeps its last message, up to 48 MB, while the connection is idle.
  const requests = new Writable({
    write(chunk: Buffer, _encoding, done) {
      messages.add(chunk);
      answerAll(messages, socket, engine).then(() => done(), done);
    },
  });
  pipeline(socket, requests, (error) => {
    if (error) socket.destroy();
    else socket.end();
  });
}

async function answerAll(messages: Messages, socket: Socket, engine: Engine): Promise<void> {
  for (let message = messages.next(); message; message = messages.next()) {
    const reply = await replyTo(message, engine);
    if (reply && !socket.write(reply)) await once(socket, 'drain');
  }
}

/** The bytes received of a client, cut into messages. */
class Messages {
  #chunks: Buffer[] = [];
  #buffered = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
  }

  /** The next whole message, or undefined until it has arrived. Throws ProtocolError. */
  next(): Buffer | undefined {
    if (this.#buffered < HEADER_BYTES) return undefined;
    if ((this.#chunks[0] as Buffer).length < HEADER_BYTES) this.#join();
    const length = messageLength(this.#chunks[0] as Buffer);
    if (this.#buffered < length) return undefined;
    if ((this.#chunks[0] as Buffer).length < length) this.#join();
    const first = this.#chunks[0] as Buffer;
    if (first.length > length) this.#chunks[0] = first.subarray(length);
    else this.#chunks.shift();
    this.#buffered -= length;
    return first.subarray(0, length);
  }

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }
}

/** The reply to a message, if the client wants one. Throws ProtocolError. */
async function replyTo(message: Buffer, engine: Engine): Promise<Buffer | undefined> {
  try {
    const request = parseRequest(message);
    const reply = await dispatch({ engine, ...request });
    return request.wantsReply ? encodeReply(request, reply) : undefined;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    // The frame is valid but its document is not, or the result cannot be encoded.
    return encodeReply({ requestId: message.readInt32LE(4), legacy: false }, errorReply(error));
  }
}
