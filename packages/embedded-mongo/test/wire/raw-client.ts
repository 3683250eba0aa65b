import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { deserialize, serialize } from 'bson';
import type { Document } from '../../src/values/bson-types.js';

export const OP_QUERY = 2004;
export const OP_MSG = 2013;

export function message(opCode: number, body: Buffer, requestId = 7): Buffer {
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + body.length, 0);
  header.writeInt32LE(requestId, 4);
  header.writeInt32LE(opCode, 12);
  return Buffer.concat([header, body]);
}

export function flagBits(flags: number): Buffer {
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE(flags);
  return bits;
}

/** A section of documents, written as they are. */
export function sequence(name: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32LE(4 + name.length + 1 + content.length);
  return Buffer.concat([Buffer.of(1), size, Buffer.from(`${name}\0`), content]);
}

/** An OP_MSG of one body section and any document sequences. */
export function msg(
  command: Document,
  {
    flags = 0,
    sequences = {},
    requestId = 7,
  }: { flags?: number; sequences?: Record<string, Document[]>; requestId?: number } = {},
): Buffer {
  const sections = Object.entries(sequences).map(([name, documents]) =>
    sequence(name, Buffer.concat(documents.map((document) => serialize(document)))),
  );
  const body = Buffer.from(serialize({ ...command, $db: 'wire' }));
  return message(OP_MSG, Buffer.concat([flagBits(flags), ...sections, Buffer.of(0), body]), requestId);
}

/** A client that only knows bytes. */
export class RawClient {
  readonly socket: Socket;
  private bytes = Buffer.alloc(0);
  private closed = false;
  private wake = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.bytes = Buffer.concat([this.bytes, chunk]);
      this.wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.wake();
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** The next reply, or undefined when the server closed the connection. */
  async reply(): Promise<{ opCode: number; responseTo: number; body: Document } | undefined> {
    for (;;) {
      if (this.bytes.length >= 4 && this.bytes.length >= this.bytes.readInt32LE(0)) {
        const whole = this.bytes.subarray(0, this.bytes.readInt32LE(0));
        this.bytes = this.bytes.subarray(whole.length);
        const opCode = whole.readInt32LE(12);
        const body = deserialize(whole.subarray(opCode === OP_MSG ? 21 : 36));
        return { opCode, responseTo: whole.readInt32LE(8), body };
      }
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async ask(bytes: Buffer): Promise<Document | undefined> {
    this.socket.write(bytes);
    return (await this.reply())?.body;
  }
}

export function writeErrorCode(reply: Document | undefined): unknown {
  const errors = (reply?.writeErrors ?? []) as Document[];
  return errors[0]?.code;
}
