import mongoose, { type Connection, type ConnectOptions } from 'mongoose';
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

/**
 * Does work over a separate connection without a time limit, which building indexes and rewriting collections need;
 * heartbeats detect a dead server.
 *
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
