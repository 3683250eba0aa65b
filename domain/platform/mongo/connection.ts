import mongoose, { type ConnectOptions, type Model, type mongo } from 'mongoose';
import { AppError } from '../../kernel/errors.js';
import { failWritesToClosedConnections } from './driver-internals.js';

/** Longest time, in ms, a request waits for a database that is away before it is answered 503. */
const UNAVAILABLE_AFTER_MS = 3_000;

// Queries on fields a schema does not know are a programming fault: say so instead of matching all.
mongoose.set('strictQuery', 'throw');
// Indexes are made and verified by ensureIndexes, once, before the ports open.
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);
failWritesToClosedConnections();

/** Longest time, in ms, an operation may take before its connection is given up. */
const OPERATION_MS = 10_000;

/**
 * Writes are acknowledged by a majority and its journals, and reads show what a majority has, where the URI
 * does not say otherwise: what we acknowledge survives (contract, promise 1), and no number is followed by
 * the next one that a failover takes back. Where the URI asks for less than a majority of a write, reads
 * at majority might not show that write to who has made it, so then they are left to the URI as well.
 */
function concernsFor(uri: string): Pick<ConnectOptions, 'writeConcern' | 'readConcern'> {
  const [, query = ''] = uri.split('?');
  const said = new Map([...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]));
  const w = said.get('w') ?? 'majority';
  return {
    ...(said.has('w') ? {} : { writeConcern: { w: 'majority', journal: true } }),
    ...(said.has('readconcernlevel') || w !== 'majority' ? {} : { readConcern: { level: 'majority' } }),
  };
}

/**
 * Connects the process to its database.
 *
 * @param operationMs longest time an operation may take before its connection is given up
 * @throws AppError SERVICE_UNAVAILABLE when no server answers in time
 */
export async function connectMongo(uri: string, operationMs = OPERATION_MS): Promise<void> {
  try {
    await mongoose.connect(uri, optionsFor(uri, operationMs));
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', 'the database does not answer', { cause: error });
  }
}

/** @param operationMs longest time an operation may take; 0 for any */
function optionsFor(uri: string, operationMs: number): ConnectOptions {
  return {
    bufferCommands: false,
    serverSelectionTimeoutMS: UNAVAILABLE_AFTER_MS,
    connectTimeoutMS: UNAVAILABLE_AFTER_MS,
    waitQueueTimeoutMS: UNAVAILABLE_AFTER_MS,
    socketTimeoutMS: operationMs,
    heartbeatFrequencyMS: 1_000,
    maxPoolSize: 20,
    ...concernsFor(uri),
  };
}

/** Closes all connections; running operations end with an error. */
export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/**
 * Resolves when the database answers.
 * @throws AppError SERVICE_UNAVAILABLE when it does not within UNAVAILABLE_AFTER_MS
 */
export async function pingMongo(): Promise<void> {
  try {
    // The driver (7.8) takes a `timeoutMS` without a word and ignores it.
    const signal = AbortSignal.timeout(UNAVAILABLE_AFTER_MS);
    await mongoose.connection.getClient().db().command({ ping: 1 }, { signal });
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', 'the database does not answer', { cause: error });
  }
}

/** The index of a schema as the server lists it, in one comparable text. */
function indexKey(key: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(key));
}

/**
 * Creates the indexes of every model and then checks that they stand. Without its unique indexes
 * the domain's promises do not hold, so a process that misses one must not start (fault 35).
 *
 * They are built over a connection of their own, as that takes as long as it takes. That the server is
 * alive meanwhile the driver finds out by its heartbeats.
 *
 * @param uri of the database that `connectMongo` has connected to
 * @throws Error naming the missing indexes
 */
export async function ensureIndexes(uri: string): Promise<void> {
  const builder = await mongoose.createConnection(uri, optionsFor(uri, 0)).asPromise();
  const missing: string[] = [];
  try {
    for (const model of Object.values(mongoose.models) as Model<unknown>[]) {
      const { name } = model.collection;
      await model.createCollection();
      const wanted = model.schema.indexes() as [
        mongo.IndexSpecification & object,
        mongo.CreateIndexesOptions,
      ][];
      for (const [key, options] of wanted) await builder.collection(name).createIndex(key, options);
      const listed = await model.collection.listIndexes().toArray();
      for (const [key, options] of wanted) {
        const found = listed.find(
          (index) => indexKey(index.key) === indexKey(key as Record<string, unknown>),
        );
        if (!found || Boolean(found.unique) !== Boolean(options.unique)) {
          missing.push(`${name} ${JSON.stringify(key)}${options.unique ? ' unique' : ''}`);
        }
      }
    }
  } finally {
    await builder.close();
  }
  if (missing.length > 0) throw new Error(`missing database indexes: ${missing.join('; ')}`);
}
