import { Mongoose } from 'mongoose';

/** Collections that change by themselves, or only rise: numbers that are used up, and what processes note of themselves. */
const OWN = ['sequences', 'heartbeats', 'milestones', 'verify_passes'];

/** How many records each collection of a database has, of those with any. */
export async function recordCounts(uri: string): Promise<Record<string, number>> {
  const connection = await new Mongoose().createConnection(uri).asPromise();
  try {
    const collections = await connection.listCollections();
    const counts = await Promise.all(
      collections.map(
        async ({ name }): Promise<[string, number]> => [
          name,
          await connection.collection(name).countDocuments({}),
        ],
      ),
    );
    return Object.fromEntries(counts.filter(([name, count]) => count > 0 && !OWN.includes(name)).sort());
  } finally {
    await connection.close();
  }
}
