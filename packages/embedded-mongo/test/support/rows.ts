import { type Collection, MongoClient } from 'mongodb';

interface Row {
  _id: number;
  [field: string]: unknown;
}

/** Works with the collection `rows` of the database at this address. */
export async function withRows<T>(
  uri: string,
  work: (rows: Collection<Row>, client: MongoClient) => Promise<T>,
): Promise<T> {
  const client = await new MongoClient(uri, { retryWrites: false }).connect();
  try {
    return await work(client.db().collection<Row>('rows'), client);
  } finally {
    await client.close();
  }
}

export const countIn = (uri: string) => withRows(uri, (rows) => rows.countDocuments());

/** Inserts the document `{a: 1}`. */
export const insertInto = (uri: string) => withRows(uri, (rows) => rows.insertOne({ _id: 1, a: 1 }));
