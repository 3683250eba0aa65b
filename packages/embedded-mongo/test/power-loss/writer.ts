/**
 * Writes to an embedded database of its own and notes, in a file, what it asks for and what is acknowledged. The test runs
 * it under strace: notes and the database's writes are then in one order.
 */
import { openSync, writeSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { startEmbeddedMongo } from '../../src/server.js';
import { bodyOf, type Row, WRITERS } from './notes.js';

const [dataDir = '', notes = '', rounds = '0'] = process.argv.slice(2);

const file = openSync(notes, 'w');
const note = (text: string) => writeSync(file, `${text}\n`);

const server = await startEmbeddedMongo({ storage: 'lmdb', dataDir });
const client = new MongoClient(server.uri, { retryWrites: false });
const rows = client.db('test').collection<Row>('rows');
await rows.createIndex({ unique: 1 }, { unique: true });
await rows.createIndex({ writer: 1, n: -1 });

async function noted(what: string, work: () => Promise<unknown>): Promise<void> {
  note(`ask ${what}`);
  await work();
  note(`ack ${what}`);
}

async function write(writer: number): Promise<void> {
  for (let n = 0; n < Number(rounds); n += 1) {
    const id = `${writer}-${n}`;
    const row = { _id: id, writer, n, unique: `u${id}`, body: bodyOf(id) };
    await noted(`insert ${id}`, () => rows.insertOne(row));
    await noted(`count ${writer}`, () =>
      rows.updateOne(
        { _id: `counter-${writer}` },
        { $inc: { n: 1 }, $setOnInsert: { unique: `c${writer}` } },
        { upsert: true },
      ),
    );
    if (n % 3 === 2) {
      const gone = `${writer}-${n - 1}`;
      await noted(`remove ${gone}`, () => rows.deleteOne({ _id: gone }));
    }
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
await client.close();
await server.close();
