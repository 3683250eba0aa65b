import mongoose from 'mongoose';

/** The last answer (epoch ms), and when it was given: in the middle of the call (performance.now()). */
let known: { time: number; at: number } | undefined;

/**
 * The time by the clock of the database server, the primary of a replica set. What processes compare with each other is
 * timed by it: their own clocks may be hours apart (fault 48).
 */
export async function databaseTime(): Promise<Date> {
  const askedAt = performance.now();
  const { localTime } = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  known = { time: localTime.getTime(), at: (askedAt + performance.now()) / 2 };
  return localTime;
}

/**
 * The same (epoch ms) without asking: the last answer, and what has passed since by this process's monotonic clock. Undefined
 * before the first answer. Every heartbeat asks, so drift does not add up.
 */
export function estimatedDatabaseTime(): number | undefined {
  return known && known.time + performance.now() - known.at;
}
