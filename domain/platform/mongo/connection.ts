import mongoose, { type ConnectOptions, type Model, type mongo } from 'mongoose';
import { AppError } from '../../kernel/errors.js';
import { failWritesToClosedConnections } from './driver-internals.js';

/** Longest time, ms, a request waits for an unavailable database before it is answered 503. */
const UNAVAILABLE_AFTER_MS = 3_000;

// Throw for unknown fields in queries, instead of ignoring them and matching everything.
mongoose.set('strictQuery', 'throw');
// ensureIndexes creates them before the ports open.
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);
failWritesToClosedConnections();

/** Longest time, ms, an operation may take before its connection is closed. */
const OPERATION_MS = 10_000;

/**
 * By default, writes are acknowledged by a majority and its journals, and reads return what a majority has:
 * acknowledged data survives (contract, promise 1), and no number follows one that a failover rolls back. If
 * the URI asks for a weaker `w`, majority reads might not show a client its own write, so the read concern
 * is then left to the URI, too.
 */
function concernsFor(uri: string): Pick<ConnectOptions, 'writeConcern' | 'readConcern'> {
  const [, query = ''] = uri.split('?');
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const w = options.get('w') ?? 'majority';
  return {
    ...(options.has('w') ? {} : { writeConcern: { w: 'majority', journal: true } }),
    ...(options.has('readconcernlevel') || w !== 'majority' ? {} : { readConcern: { level: 'majority' } }),
  };
}

/**
 * Connects the process to its database.
 *
 * @param operationMs longest time an operation may take before its connection is closed
 * @throws AppError SERVICE_UNAVAILABLE if no server answers in time
 */
export async function connectMongo(uri: string, operationMs = OPERATION_MS): Promise<void> {
  try {
    await mongoose.connect(uri, optionsFor(uri, operationMs));
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', 'the database does not answer', { cause: error });
  }
}

/** @param operationMs longest time an operation may take; 0: unlimited */
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

/** Closes all connections; running operations fail. */
export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/**
 * @throws AppError SERVICE_UNAVAILABLE unless the database answers within UNAVAILABLE_AFTER_MS
 */
export async function pingMongo(): Promise<void> {
  try {
    // The driver (7.8) ignores `timeoutMS` here.
    const signal = AbortSignal.timeout(UNAVAILABLE_AFTER_MS);
    await mongoose.connection.getClient().db().command({ ping: 1 }, { signal });
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', 'the database does not answer', { cause: error });
  }
}

/** An index key as comparable text. */
function indexKey(key: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(key));
}

/**
 * Creates the indexes of every model and verifies them. Without the unique ones the domain's promises do not
 * hold, so a process must not start without them (fault 35). They are built over a separate connection
 * without a time limit; heartbeats detect a dead server.
 *
 * @param uri of the database that `connectMongo` connected to
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
