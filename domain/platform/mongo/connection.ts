import mongoose, { type Connection, type ConnectOptions, type Model, type mongo } from 'mongoose';
import { AppError } from '../../kernel/errors.js';
import { changeDriver } from './driver-internals.js';
import { QUERY_MS } from './query-time.js';

/** Longest time, ms, a request waits for an unavailable database before it is answered 503. */
const UNAVAILABLE_AFTER_MS = 3_000;

// Throw for unknown fields in queries, instead of ignoring them and matching everything.
mongoose.set('strictQuery', 'throw');
// ensureIndexes creates them before the ports open.
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);
// Of reads and findOneAndUpdate; not of cursors, which commands use to read whole collections.
mongoose.set('maxTimeMS', QUERY_MS);
changeDriver();

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
    throw new AppError('SERVICE_UNAVAILABLE', whyUnreachable(uri, error as Error), { cause: error });
  }
}

/** The servers of a URI. Everything up to the last @ may belong to the password. */
function hostsOf(uri: string): string {
  const hosts = /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]+)/.exec(uri)?.[1] ?? '';
  // The embedded database's is a path, percent-encoded.
  return hosts.replaceAll(/%2F/gi, '/');
}

/** A line for the operator, without the password. */
function whyUnreachable(uri: string, { name, code, message }: Error & { code?: unknown }): string {
  const AUTHENTICATION_FAILED = 18;
  if (name === 'MongoParseError' || name === 'MongoAPIError') return `MONGODB_URI: ${message}`;
  if (code === AUTHENTICATION_FAILED)
    return `MONGODB_URI: the database at ${hostsOf(uri)} refuses this user or password`;
  return `MONGODB_URI: the database at ${hostsOf(uri)} does not answer`;
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

type Index = [key: mongo.IndexSpecification & object, options: mongo.CreateIndexesOptions];

/** Whether a collection's indexes include this one. */
function includes(listed: mongo.IndexDescriptionInfo[], [key, { unique }]: Index): boolean {
  const text = (one: object) => JSON.stringify(Object.entries(one));
  return listed.some((index) => text(index.key) === text(key) && Boolean(index.unique) === Boolean(unique));
}

const nameOf = (collection: string, [key, { unique }]: Index) =>
  `${collection} ${JSON.stringify(key)}${unique ? ' unique' : ''}`;

/** The indexes of the models that the database does not have, one line each. */
export async function missingIndexes(connection: Connection): Promise<string[]> {
  const existing = new Set((await connection.listCollections()).map(({ name }) => name));
  const missing: string[] = [];
  for (const model of Object.values(mongoose.models) as Model<unknown>[]) {
    const { name } = model.collection;
    const listed = existing.has(name) ? await connection.collection(name).listIndexes().toArray() : [];
    for (const index of model.schema.indexes() as Index[])
      if (!includes(listed, index)) missing.push(nameOf(name, index));
  }
  return missing;
}

/**
 * Creates a model's indexes, except, unless told to, unique ones that a collection with records lacks.
 * @returns those that are missing then
 */
async function buildIndexes(
  model: Model<unknown>,
  builder: Connection,
  isRepair: boolean,
): Promise<string[]> {
  const { name } = model.collection;
  await model.createCollection();
  const collection = builder.collection(name);
  const wanted = model.schema.indexes() as Index[];
  const before = await collection.listIndexes().toArray();
  const lacking = wanted.filter((index) => index[1].unique && !includes(before, index));
  const isFilled = lacking.length > 0 && (await collection.estimatedDocumentCount()) > 0;
  const refused = isFilled && !isRepair ? lacking : [];
  for (const index of wanted) if (!refused.includes(index)) await collection.createIndex(...index);
  const after = await collection.listIndexes().toArray();
  return wanted
    .filter((index) => !includes(after, index))
    .map((index) => {
      const remedy = refused.includes(index) ? ' (npm run verify -- --repair builds it)' : '';
      return `${nameOf(name, index)}${remedy}`;
    });
}

/**
 * Creates the indexes of every model and verifies them. Without the unique ones the domain's promises do not
 * hold, so a process must not start without them, and does not build one that is missing beside records: they
 * may break it already (fault 35).
 *
 * @param uri of the database that `connectMongo` connected to
 * @param isRepair builds those, too
 * @throws Error naming the missing indexes
 */
export async function ensureIndexes(uri: string, isRepair = false): Promise<void> {
  const missing = await withoutTimeLimit(uri, async (builder) => {
    const lists: string[][] = [];
    for (const model of Object.values(mongoose.models) as Model<unknown>[])
      lists.push(await buildIndexes(model, builder, isRepair));
    return lists.flat();
  });
  if (missing.length > 0) throw new Error(`missing database indexes: ${missing.join('; ')}`);
}

/**
 * Does work over a separate connection without a time limit; heartbeats detect a dead server.
 * @throws the driver's error if the database does not answer
 */
export async function withoutTimeLimit<T>(
  uri: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await mongoose.createConnection(uri, optionsFor(uri, 0)).asPromise();
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
