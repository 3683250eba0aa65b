import { MongoClient } from 'mongodb';

/** Number of documents in `rows` of the database at this address. */
export async function countIn(uri: string): Promise<number> {
  const client = await new MongoClient(uri).connect();
  try {
    return await client.db().collection('rows').countDocuments();
  } finally {
    await client.close();
  }
}

export async function insertInto(uri: string, document: Record<string, unknown>): Promise<void> {
  const client = await new MongoClient(uri).connect();
  try {
    await client.db().collection('rows').insertOne(document);
  } finally {
    await client.close();
  }
}
