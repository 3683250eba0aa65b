import { Double, Long } from 'bson';
import type { CommandCall, Reply } from '../commands/command.js';
import { type CursorReply, isCursorReply } from '../commands/cursors.js';
import {
  type Document,
  decode,
  encode,
  MAX_DOCUMENT_BYTES,
  MAX_MESSAGE_BYTES,
} from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';

export const HEADER_BYTES = 16;

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const MORE_TO_COME = 2;
/** Bits 0-15 of an OP_MSG are required: an unsupported one must be refused (OP_MSG specification). */
const REQUIRED_BITS = 0xffff;

/** A parsed request. */
export interface Request extends Omit<CommandCall, 'engine'> {
  requestId: number;
  /** An OP_QUERY, which is answered by OP_REPLY. */
  legacy: boolean;
  /** False with moreToCome: the client expects no reply. */
  wantsReply: boolean;
}

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
  const database = namespace.slice(0, -5);
  return { requestId, legacy: true, wantsReply: true, database, command, sequences: new Map() };
}

let nextRequestId = 1;

/** A reply may be larger than a document by this much, as in mongod. */
const REPLY_OVERHEAD = 16 * 1024;

/** Encodes a reply as one message. Throws BSONObjectTooLarge (10334) if the result is too large. */
export function encodeReply(request: Pick<Request, 'requestId' | 'legacy'>, reply: Reply): Buffer {
  const body = isCursorReply(reply) ? cursorDocument(reply) : [encodeResult(reply)];
  const lead = Buffer.alloc(HEADER_BYTES + (request.legacy ? 20 : 5));
  lead.writeInt32LE(lead.length + sizeOf(body), 0);
  lead.writeInt32LE(nextRequestId++ & 0x7fffffff, 4);
  lead.writeInt32LE(request.requestId, 8);
  lead.writeInt32LE(request.legacy ? OP_REPLY : OP_MSG, 12);
  if (request.legacy) {
    lead.writeInt32LE(8, HEADER_BYTES); // AwaitCapable, as every server sets
    lead.writeInt32LE(1, HEADER_BYTES + 16); // one document
  }
  return Buffer.concat([lead, ...body]);
}

function encodeResult(reply: Document): Buffer {
  const body = encode(reply);
  if (body.length > MAX_DOCUMENT_BYTES + REPLY_OVERHEAD)
    throw new CommandError(10334, `The result is ${body.length} bytes long, more than ${MAX_DOCUMENT_BYTES}`);
  return body;
}

/** `{cursor: {FIELD: [...], id, ns}, ok: 1}` around documents that are copied byte by byte. */
function cursorDocument({ namespace, field, cursorId, documents }: CursorReply): Uint8Array[] {
  const items = documents.flatMap((document, i) => [head(DOCUMENT, String(i)), document]);
  const id = Long.fromBigInt(cursorId);
  const cursor = [head(ARRAY, field), ...enclose(items), elementsOf({ id, ns: namespace })];
  return enclose([head(DOCUMENT, 'cursor'), ...enclose(cursor), elementsOf({ ok: new Double(1) })]);
}

const DOCUMENT = 0x03;
const ARRAY = 0x04;

/** The type and name before an element's value. */
const head = (type: number, name: string) => Buffer.from(`${String.fromCharCode(type)}${name}\0`, 'latin1');

const elementsOf = (document: Document) => encode(document).subarray(4, -1);

const sizeOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);

/** A document of encoded elements. */
function enclose(elements: Uint8Array[]): Uint8Array[] {
  const size = Buffer.alloc(4);
  size.writeInt32LE(sizeOf(elements) + 5);
  return [size, ...elements, Buffer.of(0)];
}
