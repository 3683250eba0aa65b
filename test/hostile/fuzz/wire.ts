import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Binary, Decimal128, deserialize, Long, MaxKey, MinKey, ObjectId, serialize, Timestamp } from 'bson';
import { expect } from 'chai';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { createTestProcess } from '../../support/child-process.js';
import { rawConnection } from '../../support/raw-connection.js';
import { type Door, MEASURED } from './door.js';
import { like, near, rarely, wild as wildJson } from './values.js';

const wild = fc.oneof(
  { weight: 3, arbitrary: wildJson },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      ...[new ObjectId(), new Date(0), new Date(Number.NaN), /(a+)+$/, Long.MAX_VALUE, Long.MIN_VALUE],
      ...[new MinKey(), new MaxKey(), new Timestamp(0n), Decimal128.fromString('NaN'), new Binary([1], 4)],
      ...[Number.NaN, Infinity, undefined, Buffer.alloc(3)],
    ),
  },
);

/** Commands as drivers send them, each on the same collection. */
const examples: object[] = [
  { hello: 1, client: { driver: { name: 'x' } } },
  { find: 'rows', filter: { a: { $gt: 1 }, $or: [{ b: 'x' }] }, sort: { a: 1 }, projection: { a: 1 } },
  { find: 'rows', filter: { b: { $regex: '^x' } }, skip: 1, limit: 3, batchSize: 1, maxTimeMS: 100 },
  { getMore: Long.fromNumber(1), collection: 'rows', batchSize: 2 },
  { killCursors: 'rows', cursors: [Long.fromNumber(1)] },
  { count: 'rows', query: { a: { $in: [1, 2] } }, limit: 2 },
  { distinct: 'rows', key: 'a', query: {} },
  { insert: 'rows', documents: [{ _id: 1, a: 1, b: 'x' }], ordered: true },
  { update: 'rows', updates: [{ q: { _id: 1 }, u: { $set: { a: 2 }, $inc: { c: 1 } }, upsert: true }] },
  { findAndModify: 'rows', query: { a: 1 }, update: { $push: { d: { $each: [1] } } }, new: true },
  { delete: 'rows', deletes: [{ q: { a: 1 }, limit: 1 }] },
  { aggregate: 'rows', pipeline: [{ $match: { a: 1 } }, { $sort: { n: -1 } }], cursor: { batchSize: 2 } },
  { aggregate: 'rows', pipeline: [{ $group: { _id: '$a', n: { $sum: 1 } } }], cursor: {} },
  { createIndexes: 'rows', indexes: [{ key: { a: 1, b: -1 }, name: 'a_1', unique: true }] },
  { dropIndexes: 'rows', index: 'a_1' },
  { listIndexes: 'rows', cursor: {} },
  { listCollections: 1, filter: {}, nameOnly: true },
  ...[{ create: 'others' }, { drop: 'others' }, { dropDatabase: 1 }, { serverStatus: 1 }],
];

const command = fc.oneof(...examples.map((example) => near(like({ ...example, $db: 'fuzz' }), { wild })));

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

/** A document as bytes; what BSON cannot hold becomes an empty one. */
function documentOf(value: unknown): Uint8Array {
  try {
    return serialize(value as object);
  } catch {
    return serialize({});
  }
}

interface Parts {
  opcode: number;
  flags: number;
  document: unknown;
  sequence: string | undefined;
}

/** One message of the wire protocol: a header, flags, and sections; or an OP_QUERY. */
function messageOf({ opcode, flags, document, sequence }: Parts): Buffer {
  const body = documentOf(document);
  const named = Buffer.from(`${sequence}\0`);
  const rest =
    opcode === 2004 ? [Buffer.from('fuzz.$cmd\0'), int32(0), int32(-1), body] : [Buffer.of(0), body];
  if (sequence !== undefined)
    rest.push(Buffer.of(1), int32(4 + named.length + 2 * body.length), named, body, body);
  const payload = Buffer.concat([int32(flags), ...rest]);
  return Buffer.concat([int32(16 + payload.length), int32(7), int32(0), int32(opcode), payload]);
}

const message = fc
  .record({
    opcode: fc.oneof({ weight: 9, arbitrary: fc.constant(2013) }, fc.constantFrom(2004, 2012, 1, -1)),
    flags: rarely(0, fc.integer()),
    document: command,
    sequence: rarely<string | undefined>(undefined, fc.constantFrom('documents', 'updates', 'deletes', '')),
  })
  .map(messageOf);

interface Sent {
  bytes: Buffer;
  /** It is whole and well-formed, though its command need not be: a reply must come. */
  answered: boolean;
}

/** Messages; of some, bytes are replaced, or the end is missing. */
const sent: fc.Arbitrary<Sent> = fc
  .tuple(
    message,
    rarely<[number, number][]>([], fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 5 })),
    rarely(Infinity, fc.nat(300)),
  )
  .map(([whole, changes, end]) => {
    const isKnown = [2013, 2004].includes(whole.readInt32LE(12)) && whole.readInt32LE(16) === 0;
    for (const [at, byte] of changes) if (at < whole.length) whole.writeUInt8(byte, at);
    return {
      bytes: whole.subarray(0, end),
      answered: isKnown && changes.length === 0 && end >= whole.length,
    };
  });

/** Fails for an error that the database did not expect (InternalError, 1). */
function expectExpected(reply: Buffer): void {
  const at = reply.readInt32LE(12) === 1 ? 36 : 21;
  const { code, errmsg } = deserialize(reply.subarray(at, reply.readInt32LE(0)));
  expect(code, errmsg).not.to.equal(1);
}

/** Messages to the embedded database, whole and damaged. */
export const wire: Door<Sent> = {
  name: 'wire',
  cases: 600,
  input: sent,
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-fuzz-'));
    const database = createTestProcess({
      ...{ name: 'database', path: import.meta.resolve('embedded-mongo/main'), folder, env: MEASURED },
      args: ['--data-dir', folder, '--port', '0'],
    });
    const { uri } = (await database.start()) as { uri: string };
    const client = await MongoClient.connect(uri);
    return {
      processes: [database],
      async send({ bytes, answered }) {
        const { socket, ended } = rawConnection(uri);
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.write(bytes);
        // Its own end closes the connection, with a reply that is not sent yet.
        if (answered) socket.once('data', () => socket.end());
        else socket.end();
        await ended;
        const reply = Buffer.concat(chunks);
        if (answered) expect(reply.length, 'bytes of the reply').to.be.above(0);
        if (reply.length > 0) expectExpected(reply);
      },
      async check() {
        const rows = client.db('others').collection('rows');
        await rows.insertOne({ a: 1 });
        expect(await rows.countDocuments()).to.equal(1);
      },
      async close() {
        await client.close();
        await database.kill('SIGTERM');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
