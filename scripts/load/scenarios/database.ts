import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { startDatabase } from '../installation.js';
import { merge, percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import type { LoadOptions } from '../options.js';
import { cpuMicros, privateBytes } from '../process-figures.js';
import { type Actor, createProcessGroup, messageOf, type ProcessGroup } from '../process-group.js';
import { atMost, type Contender, medianOf, type Role, type Run, ratio, type Scenario } from '../scenario.js';
import { storedMessage } from '../servers/grouped-store.js';
import { startLocal } from '../socket-servers.js';

const DOCUMENTS = 100_000;
const ROOMS = 1_000;

/** How many times as many are in the one that is ended and started again. */
const MANY = 5;

/** Most reads of the one that was started again, before its memory is read. */
const READS = 2_000;

/** Documents written together while a database is filled. */
const BATCH = 5_000;
const WARM_UP_SECONDS = 2;

const FIND = 'find of 50 by (room, seq)';
const INSERT = 'insertOne, 64 in flight';
const FULL = 'started again';

const OURS = 'embedded database on lmdb';
const TWIN = 'its memory twin';
const LOOP = 'bare lmdb loop';

function documentsOf({ documents = DOCUMENTS }: LoadOptions): number {
  return documents;
}

async function fill(uri: string, documents: number): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const messages = client.db().collection('messages');
    await messages.createIndex({ chatNo: 1, seq: 1 }, { unique: true });
    await messages.createIndex(
      { chatNo: 1, senderNo: 1, clientKey: 1 },
      { unique: true, partialFilterExpression: { clientKey: { $exists: true } } },
    );
    const text = 'the quick brown fox jumps over the lazy dog '.repeat(3);
    for (let from = 0; from < documents; from += BATCH) {
      const records = Array.from({ length: Math.min(BATCH, documents - from) }, (_, k) => {
        const i = from + k;
        return storedMessage(i % ROOMS, Math.floor(i / ROOMS) + 1, text, `k${i}`);
      });
      await messages.insertMany(records as never[], { ordered: false });
    }
  } finally {
    await client.close();
  }
}

interface Work {
  work: 'find' | 'insert';
  inFlight: number;
}

/** Lets a worker work and reads what the measured process has used for each operation. */
async function timed(worker: Actor, measured: number, work: Work, seconds: number): Promise<Figures> {
  async function run(length: number) {
    const done = messageOf<{ operations: number; seconds: number; times?: string; error?: string }>(
      worker,
      (m) => typeof (m as { operations?: unknown }).operations === 'number',
      length * 1_000 + 60_000,
    );
    worker.child.send({ ...work, seconds: length });
    const result = await done;
    if (result.error !== undefined) throw new Error(result.error);
    return result;
  }
  await run(Math.min(WARM_UP_SECONDS, seconds));
  const cpu = cpuMicros(measured);
  const { operations, seconds: took, times } = await run(seconds);
  return {
    cpu: (cpuMicros(measured) - cpu) / operations,
    delivered: operations,
    lost: 0,
    perSecond: operations / took,
    ...(times ? percentiles(merge([times])) : {}),
  };
}

interface Server {
  name: string;
  role: Role;
  /** @returns its address and the process that is measured */
  start(stage: ProcessGroup): Promise<{ uri: string; pid: number }>;
}

const servers: Server[] = [
  { name: OURS, role: 'ours', start: (stage) => startDatabase(stage) },
  {
    name: TWIN,
    role: 'limit',
    async start(stage) {
      const { actor, port } = await startLocal(stage, 'memory-database');
      return { uri: `mongodb://127.0.0.1:${port}/adoption`, pid: actor.pid };
    },
  },
];

function throughDriver({ name, role, start }: Server, part: string, work: Work): Contender {
  return {
    name,
    role,
    part,
    async measure({ stage, options }) {
      const { uri, pid } = await start(stage);
      const documents = documentsOf(options);
      await fill(uri, documents);
      const args = [uri, String(documents), String(ROOMS)];
      const worker = stage.fork('clients', 'load/clients/database-worker.js', { args });
      await messageOf(worker, (m) => m === 'ready');
      return timed(worker, pid, work, options.seconds);
    },
  };
}

function loop(part: string, work: Work): Contender {
  return {
    name: LOOP,
    role: 'limit',
    part,
    async measure({ stage, options }) {
      const args = [join(stage.folder, 'loop'), String(documentsOf(options)), String(ROOMS)];
      const { actor } = await startLocal(stage, 'lmdb-loop', args);
      return timed(actor, actor.pid, work, options.seconds);
    },
  };
}

/** Fills it, ends it, starts it again on the same folder, and reads one room. */
async function restart({ stage, options }: Run): Promise<Figures> {
  const documents = documentsOf(options) * MANY;
  const folder = join(stage.folder, 'kept');
  const filling = createProcessGroup();
  try {
    await fill((await startDatabase(filling, folder)).uri, documents);
  } finally {
    await filling.end();
  }
  const begin = performance.now();
  const database = await startDatabase(stage, folder);
  const client = new MongoClient(database.uri);
  try {
    const messages = client.db().collection('messages');
    const first = await messages.find({ chatNo: 7 }).sort({ seq: 1 }).limit(50).toArray();
    const duration = (performance.now() - begin) / 1_000;
    for (let i = 0; i < Math.min(READS, documents / 10); i += 1) {
      await messages
        .find({ chatNo: (i * 7) % ROOMS })
        .sort({ seq: 1 })
        .limit(50)
        .toArray();
    }
    const all = await messages.countDocuments({});
    return {
      duration,
      memoryTotal: privateBytes(database.pid) / 2 ** 20,
      delivered: all,
      lost: documents - all + (Math.min(50, documents / ROOMS) - first.length),
    };
  } finally {
    await client.close();
  }
}

export const database: Scenario = {
  name: 'database',
  title:
    'The embedded database of 100,000 documents: CPU of its process per operation, beside its memory twin and lmdb alone; of 500,000: memory and restart',
  columns: ['cpu', 'delivered', 'lost', 'perSecond', 'p50', 'p99', 'p999', 'duration', 'memoryTotal'],

  contenders() {
    const [find, insert]: Work[] = [
      { work: 'find', inFlight: 4 },
      { work: 'insert', inFlight: 64 },
    ];
    return [
      ...servers.map((server) => throughDriver(server, FIND, find as Work)),
      loop(FIND, find as Work),
      ...servers.map((server) => throughDriver(server, INSERT, insert as Work)),
      loop(INSERT, insert as Work),
      { name: OURS, role: 'ours', part: FULL, measure: restart },
    ];
  },

  verdicts(results) {
    const cpu = (name: string, part: string) => medianOf(results, name, 'cpu', part);
    return [
      atMost('find, CPU against the memory twin', ratio(cpu(OURS, FIND), cpu(TWIN, FIND)), 2.5),
      atMost('insertOne, CPU against the memory twin', ratio(cpu(OURS, INSERT), cpu(TWIN, INSERT)), 2),
      atMost(
        'started again with 500,000 documents: private memory, MiB',
        medianOf(results, OURS, 'memoryTotal', FULL),
        120,
      ),
      atMost(
        'started again with 500,000 documents: until the first answer, s',
        medianOf(results, OURS, 'duration', FULL),
        2,
      ),
    ];
  },
};
