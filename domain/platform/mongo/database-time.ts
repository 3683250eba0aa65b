import mongoose from 'mongoose';

/**
 * The time by the clock of the database server, the primary of a replica set. What processes compare with each other is
 * timed by it: their own clocks may be hours apart (fault 48).
 */
export async function databaseTime(): Promise<Date> {
  const { localTime } = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return localTime;
}
