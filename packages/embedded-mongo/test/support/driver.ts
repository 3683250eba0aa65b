import { type Db, type Document, MongoClient, type MongoServerError } from 'mongodb';
import { startEmbeddedMongo } from '../../src/server.js';

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<MongoServerError> {
  try {
    await call;
  } catch (error) {
    return error as MongoServerError;
  }
  throw new Error('the call succeeded');
}

/** A database in memory and the driver on it, for the tests of a describe; empty at the beginning of each. */
export function useDriver(): {
  uri(): string;
  client(): MongoClient;
  db(): Db;
  rows(): ReturnType<Db['collection']>;
} {
  let server: Awaited<ReturnType<typeof startEmbeddedMongo>>;
  let client: MongoClient;
  before(async () => {
    server = await startEmbeddedMongo({ storage: 'memory' });
    client = await new MongoClient(server.uri, { retryWrites: false }).connect();
  });
  afterEach(() => client.db().dropDatabase());
  after(async () => {
    await client.close();
    await server.close();
  });
  return {
    uri: () => server.uri,
    client: () => client,
    db: () => client.db(),
    rows: () => client.db().collection<Document>('rows'),
  };
}
