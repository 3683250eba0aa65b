import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Collection, MongoClient, MongoError, MongoServerError } from 'mongodb';
import { Engine } from '../src/commands/engine.js';
import { identRange } from '../src/storage/collection.js';
import { LmdbStorage } from '../src/storage/storage.lmdb.js';
import { decode } from '../src/values/bson-types.js';
import { eventually } from './support/eventually.js';
import { indexFaults } from './support/index-check.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const WRITERS = 16;
/** 50 for the full run. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 5);

interface Row {
  _id: string;
  writer?: number;
  n?: number;
  unique?: string;
  tags?: unknown[];
  kind?: number;
}

/** What one writer knows: what was acknowledged, and the one operation that may or may not have happened. */
interface Ledger {
  present: Set<string>;
  unsure: Set<string>;
  counted: number;
  sent: number;
}

async function startServer(dataDir: string): Promise<{ child: ChildProcess; uri: string }> {
  const child = fork(MAIN, ['--data-dir', dataDir], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [message] = (await once(child, 'message')) as [{ uri: string }];
  return { child, uri: message.uri };
}

/** Writes until the connection breaks: inserts, deletes of own documents and a counter, each awaited. */
async function writeUntilKilled(
  rows: Collection<Row>,
  writer: number,
  round: number,
  ledger: Ledger,
): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${round}-${writer}-${n}`;
    ledger.unsure = new Set([id]);
    ledger.sent++;
    await rows.insertOne({ _id: id, writer, n, unique: `u${id}`, tags: ['x', n % 5], kind: n % 3 });
    ledger.present.add(id);
    await rows.updateOne({ _id: `counter-${writer}` }, { $inc: { n: 1 } }, { upsert: true });
    ledger.counted = ledger.sent;
    if (n % 4 !== 3) continue;
    const gone = `${round}-${writer}-${n - 2}`;
    ledger.unsure.add(gone);
    await rows.deleteOne({ _id: gone });
    ledger.present.delete(gone);
  }
}

/** Reads the folder in this process, as the next start would, and compares it with the ledgers. */
async function verify(dataDir: string, ledgers: Ledger[]): Promise<void> {
  const storage = new LmdbStorage(join(dataDir, 'mongo'));
  const engine = new Engine(storage);
  try {
    const collection = engine.catalog.find('test', 'rows');
    if (!collection) throw new Error('the collection is gone');
    expect(indexFaults(engine, collection)).to.deep.equal([]);
    const records = storage.entries(identRange(collection.ident), Number.MAX_SAFE_INTEGER);
    const stored = new Map(records.map(({ value }) => decode(value)).map((row) => [String(row._id), row]));
    for (const [writer, ledger] of ledgers.entries()) {
      const counter = Number(stored.get(`counter-${writer}`)?.n ?? 0);
      expect(counter, `counter of writer ${writer}`).to.be.within(ledger.counted, ledger.sent);
      ledger.counted = counter;
      ledger.sent = counter;
      for (const id of ledger.present)
        if (!ledger.unsure.has(id)) expect(stored.has(id), `acknowledged ${id}`).to.equal(true);
      const own = [...stored.keys()].filter(
        (id) => id.split('-')[1] === String(writer) && !id.startsWith('counter'),
      );
      for (const id of own)
        expect(
          ledger.present.has(id) || ledger.unsure.has(id),
          `${id} was never written, or its deletion was acknowledged`,
        ).to.equal(true);
      ledger.present = new Set(own);
    }
  } finally {
    await engine.close();
  }
}

describe('embedded database: kill -9', () => {
  it(`loses nothing that was acknowledged, with ${WRITERS} writers, ${ROUNDS} times`, async function () {
    this.timeout(60_000 + ROUNDS * 5000);
    const dataDir = await mkdtemp(join(tmpdir(), 'embedded-kill-'));
    const ledgers = Array.from(
      { length: WRITERS },
      (): Ledger => ({ present: new Set(), unsure: new Set(), counted: 0, sent: 0 }),
    );
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const { child, uri } = await startServer(dataDir);
        const client = new MongoClient(uri, { retryWrites: false, serverSelectionTimeoutMS: 1000 });
        const rows = client.db('test').collection<Row>('rows');
        await rows.createIndex(
          { unique: 1 },
          { unique: true, partialFilterExpression: { unique: { $exists: true } } },
        );
        await rows.createIndex({ writer: 1, n: -1 });
        await rows.createIndex({ kind: 1 });
        const writers = ledgers.map((ledger, writer) =>
          writeUntilKilled(rows, writer, round, ledger).catch((error) => {
            // The connection's end, and no answer of the database. The driver passes on a failed write to the socket as it is.
            const isEnd =
              (error instanceof MongoError && !(error instanceof MongoServerError)) || error.code === 'EPIPE';
            if (!isEnd) throw error;
          }),
        );
        await eventually(() => expect(ledgers.map(({ counted }) => counted)).to.not.include(0));
        // Any moment will do: what is tested is that none is special.
        await sleep(100 + Math.random() * 300);
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
        await client.close();
        await Promise.all(writers);
        await verify(dataDir, ledgers);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
