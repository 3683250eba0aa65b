import mongoose from 'mongoose';

/** Faults of storing messages (../../planted-fault.ts). */
export type StorageFault = 'ack-before-store' | 'lose-on-kill' | 'seq-hole';

/** Time from pretending that messages are stored to storing them, ms. */
const STORED_LATE_MS = 500;

/** Of which age messages are lost when a process starts, ms. */
const LOST_MS = 5_000;

/** One message in so many leaves the number before it out. */
const HOLE_EVERY = 50;

interface Stored {
  seq: number;
}

type InsertMany = (records: Stored[], options: object) => Promise<unknown>;

/** Gives the last record of a write the number after its own, now and then. */
function leaveHoles(insert: InsertMany): InsertMany {
  let stored = 0;
  return (records, options) => {
    stored += 1;
    const last = records.at(-1);
    if (last && stored % HOLE_EVERY === 0) last.seq += 1;
    return insert(records, options);
  };
}

/** Answers before anything is stored. What another process refuses meanwhile is lost, and what this one has not stored when it stops. */
function answerEarly(insert: InsertMany): InsertMany {
  const client = mongoose.connection.getClient();
  return async (records, options) => {
    const copies = structuredClone(records);
    setTimeout(() => {
      if (mongoose.connection.getClient() === client) void insert(copies, options).catch(() => {});
    }, STORED_LATE_MS);
  };
}

/** Makes storing messages wrong. The process is connected to its database. */
export async function plantInStorage(fault: StorageFault): Promise<void> {
  const { collection } = mongoose.model('Message');
  if (fault === 'lose-on-kill') {
    await collection.deleteMany({ sentAt: { $gt: new Date(Date.now() - LOST_MS) } });
    return;
  }
  const insert = collection.insertMany.bind(collection) as unknown as InsertMany;
  Object.assign(collection, { insertMany: fault === 'seq-hole' ? leaveHoles(insert) : answerEarly(insert) });
}
