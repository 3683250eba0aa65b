import { type Document, decode, encode, MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';

/** Largest message, bytes: `maxMessageSizeBytes` of hello. */
export const MAX_MESSAGE_BYTES = 48_000_000;
export const HEADER_BYTES = 16;

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const MORE_TO_COME = 2;
/** Bits 0-15 of an OP_MSG are required: an unsupported one must be refused (OP_MSG specification). */
const REQUIRED_BITS = 0xffff;

/** One batch of encoded documents and the cursor id for the next; 0n if there is none. */
export interface Batch {
  cursorId: bigint;
  documents: Uint8Array[];
}

/** A parsed request. */
export interface Request {
  requestId: number;
  /** An OP_QUERY, which is answered by OP_REPLY. */
  legacy: boolean;
  /** False with moreToCome: the client expects no reply. */
  wantsReply: boolean;
  database: string;
  command: Document;
  /** Document sequences (section kind 1) by their field name, still encoded. */
  sequences: Map<string, Buffer[]>;
}

/** A reply whose documents are already BSON and are copied unchanged. */
export class CursorReply {
  readonly namespace: string;
  readonly field: 'firstBatch' | 'nextBatch';
  readonly batch: Batch;

  constructor(namespace: string, field: 'firstBatch' | 'nextBatch', batch: Batch) {
    this.namespace = namespace;
    this.field = field;
    this.batch = batch;
  }
}

export type Reply = Document | CursorReply;

/** A malformed message; the connection is closed, as mongod does. */
export class ProtocolError extends Error {}

/** The length of a message, from its first four bytes. Throws ProtocolError if it is out of bounds. */
export function messageLength(header: Buffer): number {
  const length = header.readInt32LE(0);
  if (length < HEADER_BYTES || length > MAX_MESSAGE_BYTES)
    throw new ProtocolError(`message length ${length} is out of bounds`);
  return length;
}

/** Parses one whole message. Throws ProtocolError for a broken frame, BSONError for a broken document. */
export function parseRequest(message: Buffer): Request {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  if (opCode === OP_MSG) return parseMsg(message, requestId);
  if (opCode === OP_QUERY) return parseQuery(message, requestId);
  throw new ProtocolError(`opcode ${opCode} is not served`);
}

function parseMsg(message: Buffer, requestId: number): Request {
  if (message.length < HEADER_BYTES + 5) throw new ProtocolError('OP_MSG is too short');
  const flags = message.readUInt32LE(HEADER_BYTES);
  if (flags & REQUIRED_BITS & ~MORE_TO_COME) throw new ProtocolError('OP_MSG has unknown required flag bits');
  const end = message.length;
  const sequences = new Map<string, Buffer[]>();
  let command: Document | undefined;
  let at = HEADER_BYTES + 4;
  while (at < end) {
    const kind = message[at++];
    if (kind === 0) {
      if (command) throw new ProtocolError('OP_MSG has two bodies');
      const bytes = sizedAt(message, at, end);
      command = decode(bytes);
      at += bytes.length;
    } else if (kind === 1) {
      const { length } = sizedAt(message, at, end);
      readSequence(message, at + 4, at + length, sequences);
      at += length;
    } else {
      throw new ProtocolError(`OP_MSG has an unknown section kind ${kind}`);
    }
  }
  if (!command) throw new ProtocolError('OP_MSG has no body');
  const database = command.$db;
  if (typeof database !== 'string') throw new CommandError(40414, 'OP_MSG requests require a $db argument');
  return { requestId, legacy: false, wantsReply: !(flags & MORE_TO_COME), database, command, sequences };
}

function readSequence(message: Buffer, start: number, end: number, sequences: Map<string, Buffer[]>): void {
  const nameEnd = message.indexOf(0, start);
  if (nameEnd < 0 || nameEnd >= end) throw new ProtocolError('OP_MSG sequence has no name');
  const name = message.toString('utf8', start, nameEnd);
  if (sequences.has(name)) throw new ProtocolError(`OP_MSG has two sequences named ${name}`);
  const documents: Buffer[] = [];
  for (let at = nameEnd + 1; at < end; ) {
    const bytes = sizedAt(message, at, end);
    documents.push(bytes);
    at += bytes.length;
  }
  sequences.set(name, documents);
}

/** A document or a sequence: both begin with their size. */
function sizedAt(message: Buffer, at: number, end: number): Buffer {
  const size = at + 4 <= end ? message.readInt32LE(at) : -1;
  if (size < 5 || at + size > end) throw new ProtocolError('a document or sequence has a bad size');
  return message.subarray(at, at + size);
}

/** Drivers send only the handshake as OP_QUERY: a query on DATABASE.$cmd whose document is the command. */
function parseQuery(message: Buffer, requestId: number): Request {
  const nameEnd = message.indexOf(0, HEADER_BYTES + 4);
  if (nameEnd < 0) throw new ProtocolError('OP_QUERY has no collection name');
  const namespace = message.toString('utf8', HEADER_BYTES + 4, nameEnd);
  if (!namespace.endsWith('.$cmd')) throw new ProtocolError('OP_QUERY is served for commands only');
  const command = decode(sizedAt(message, nameEnd + 9, message.length));
  return {
    requestId,
    legacy: true,
    wantsReply: true,
    database: namespace.slice(0, -5),
    command,
    sequences: new Map(),
  };
}

let nextRequestId = 1;

/** A reply may be larger than a document by this much, as in mongod. */
const REPLY_OVERHEAD = 16 * 1024;

/** Encodes a reply as one message. Throws BSONObjectTooLarge (10334) if the result is too large. */
export function encodeReply(request: Pick<Request, 'requestId' | 'legacy'>, reply: Reply): Buffer {
  const lead = HEADER_BYTES + (request.legacy ? 20 : 5);
  const message =
    reply instanceof CursorReply ? encodeCursorReply(reply, lead) : withLead(encode(reply), lead);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(nextRequestId++ & 0x7fffffff, 4);
  message.writeInt32LE(request.requestId, 8);
  message.writeInt32LE(request.legacy ? OP_REPLY : OP_MSG, 12);
  message.fill(0, HEADER_BYTES, lead);
  if (request.legacy) {
    message.writeInt32LE(8, HEADER_BYTES); // AwaitCapable, as every server sets
    message.writeInt32LE(1, HEADER_BYTES + 16); // one document
  }
  return message;
}

function withLead(body: Buffer, lead: number): Buffer {
  if (body.length > MAX_DOCUMENT_BYTES + REPLY_OVERHEAD)
    throw new CommandError(10334, `The result is ${body.length} bytes long, more than ${MAX_DOCUMENT_BYTES}`);
  const message = Buffer.allocUnsafe(lead + body.length);
  body.copy(message, lead);
  return message;
}

/** `{cursor: {FIELD: [...], id, ns}, ok: 1}` around documents that are copied byte by byte. */
function encodeCursorReply({ namespace, field, batch }: CursorReply, lead: number): Buffer {
  const tail = encode({ ns: namespace });
  let arraySize = 5;
  for (const [i, document] of batch.documents.entries()) arraySize += 2 + String(i).length + document.length;
  const cursorSize = 4 + 1 + field.length + 1 + arraySize + 1 + 3 + 8 + (tail.length - 5) + 1;
  const bodySize = 4 + 1 + 7 + cursorSize + 1 + 3 + 8 + 1;
  const message = Buffer.allocUnsafe(lead + bodySize);
  let at = message.writeInt32LE(bodySize, lead);
  at = writeName(message, at, 0x03, 'cursor');
  at = message.writeInt32LE(cursorSize, at);
  at = writeName(message, at, 0x04, field);
  at = message.writeInt32LE(arraySize, at);
  for (const [i, document] of batch.documents.entries()) {
    at = writeName(message, at, 0x03, String(i));
    message.set(document, at);
    at += document.length;
  }
  message[at++] = 0;
  at = writeName(message, at, 0x12, 'id');
  at = message.writeBigInt64LE(batch.cursorId, at);
  tail.copy(message, at, 4, tail.length - 1);
  at += tail.length - 5;
  message[at++] = 0;
  at = writeName(message, at, 0x01, 'ok');
  at = message.writeDoubleLE(1, at);
  message[at] = 0;
  return message;
}

function writeName(message: Buffer, at: number, type: number, name: string): number {
  message[at] = type;
  const end = at + 1 + message.write(name, at + 1, 'latin1');
  message[end] = 0;
  return end + 1;
}
