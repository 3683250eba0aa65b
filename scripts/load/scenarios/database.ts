import { join } from 'node:path';
import type { Collection, CreateIndexesOptions, IndexSpecification } from 'mongodb';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import type { DatabaseCommand } from '../clients/database-worker.js';
import { openDriver } from '../driver.js';
import { type Database, startDatabase } from '../installation.js';
import { measureWork } from '../measure.js';
import { sampleRecord } from '../messages.js';
import type { Figures } from '../metrics.js';
import type { LoadOptions } from '../options.js';
import { privateBytes } from '../process-figures.js';
import { type ManagedProcess, ProcessGroup } from '../process-group.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { insertAll } from '../seed.js';
import { atMost, medianOf, onlyAt, ratio } from '../verdict.js';

const DOCUMENTS = 100_000;
const ROOMS = 1_000;

/** The restarted database has this many times the documents. */
const RESTART_FACTOR = 5;

/** Most reads after a restart before memory is measured. */
const READS = 2_000;

const WARM_UP_SECONDS = 2;

const FIND = 'find of 50 by (room, seq)';
const INSERT = 'insertOne, 64 in flight';
const RESTART = 'restarted';

const OURS = 'embedded database on lmdb';
const IN_MEMORY = 'embedded database in memory';
const LOOP = 'bare lmdb loop';

type Work = Pick<DatabaseCommand, 'work' | 'inFlight'>;

const parts: [part: string, work: Work][] = [
  [FIND, { work: 'find', inFlight: 4 }],
  [INSERT, { work: 'insert', inFlight: 64 }],
];

const documentsOf = ({ documents = DOCUMENTS }: LoadOptions) => documents;

/** Calls `use` with the messages of a database, through the driver. */
async function withMessages<T>(
  uri: string,
  use: (messages: Collection<MessageRecord>) => Promise<T>,
): Promise<T> {
  const client = await openDriver(uri);
  try {
    return await use(client.db().collection<MessageRecord>('messages'));
  } finally {
    await client.close();
  }
}

/** Stores messages under the unique indexes of the service. */
function fill(uri: string, documents: number): Promise<void> {
  return withMessages(uri, async (collection) => {
    for (const [key, options] of Message.schema.indexes() as [IndexSpecification, CreateIndexesOptions][])
      if (options.unique) await collection.createIndex(key, options);
    await insertAll({ collection }, documents, (i) => sampleRecord(i, ROOMS));
  });
}

function measure(worker: ManagedProcess, pid: number, work: Work, options: LoadOptions): Promise<Figures> {
  return measureWork(options, { pids: [pid] }, worker, work, { warmUpSeconds: WARM_UP_SECONDS });
}

function throughDriver(start: (group: ProcessGroup) => Promise<Database>, work: Work) {
  return async ({ group, options }: Run): Promise<Figures> => {
    const { uri, pid } = await start(group);
    await fill(uri, documentsOf(options));
    const args = [uri, String(documentsOf(options)), String(ROOMS)];
    const { process } = await group.start('clients/database-worker', { args });
    return measure(process, pid, work, options);
  };
}

async function startInMemory(group: ProcessGroup): Promise<Database> {
  const { process, port } = await group.start('servers/memory-database', { measured: true });
  return { uri: `mongodb://127.0.0.1:${port}/adoption`, pid: process.pid };
}

function throughLmdb(work: Work) {
  return async ({ group, options }: Run): Promise<Figures> => {
    const args = [join(group.folder, 'loop'), String(documentsOf(options)), String(ROOMS)];
    const { process } = await group.start('servers/lmdb-loop', { args, measured: true });
    return measure(process, process.pid, work, options);
  };
}

/** Fills a database, stops it, starts it again on the same folder, and reads. */
async function restart({ group, options }: Run): Promise<Figures> {
  const documents = documentsOf(options) * RESTART_FACTOR;
  const folder = join(group.folder, 'kept');
  const filling = new ProcessGroup();
  try {
    await fill((await startDatabase(filling, folder)).uri, documents);
  } finally {
    await filling.end();
  }
  const start = performance.now();
  const database = await startDatabase(group, folder);
  return withMessages(database.uri, async (messages) => {
    const read = (chatNo: number) => messages.find({ chatNo }).sort({ seq: 1 }).limit(50).toArray();
    const first = await read(7);
    const duration = (performance.now() - start) / 1_000;
    for (let i = 0; i < Math.min(READS, documents / 10); i += 1) await read((i * 7) % ROOMS);
    const stored = await messages.countDocuments({});
    return {
      duration,
      memoryTotal: privateBytes(database.pid) / 2 ** 20,
      delivered: stored,
      lost: documents - stored + (Math.min(50, documents / ROOMS) - first.length),
    };
  });
}

export const database: Scenario = {
  name: 'database',
  title:
    'The embedded database of 100,000 documents: CPU of its process per operation, compared with storage in memory and with lmdb alone; of 500,000: memory and restart',
  columns: ['cpu', 'delivered', 'lost', 'perSecond', 'p50', 'p99', 'p999', 'duration', 'memoryTotal'],
  heeds: ['documents'],

  contenders: () => [
    ...parts.flatMap(([part, work]): Contender[] => [
      { name: OURS, role: 'ours', part, throughput: true, measure: throughDriver(startDatabase, work) },
      { name: IN_MEMORY, role: 'limit', part, throughput: true, measure: throughDriver(startInMemory, work) },
      { name: LOOP, role: 'limit', part, throughput: true, measure: throughLmdb(work) },
    ]),
    { name: OURS, role: 'ours', part: RESTART, measure: restart },
  ],

  verdicts(results, options) {
    const againstMemory = (part: string) =>
      ratio(medianOf(results, OURS, 'cpu', part), medianOf(results, IN_MEMORY, 'cpu', part));
    const afterRestart = (metric: 'memoryTotal' | 'duration') => medianOf(results, OURS, metric, RESTART);
    return onlyAt(options, { documents: DOCUMENTS }, [
      atMost('find, CPU against the database in memory', againstMemory(FIND), 2.5),
      atMost('insertOne, CPU against the database in memory', againstMemory(INSERT), 2),
      atMost('restarted with 500,000 documents: private memory, MiB', afterRestart('memoryTotal'), 120),
      atMost('restarted with 500,000 documents: until the first answer, s', afterRestart('duration'), 2),
    ]);
  },
};
