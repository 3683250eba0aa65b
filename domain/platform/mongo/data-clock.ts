import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { joinRunning } from '../async/shared-runs.js';
import { noteRestore } from '../cluster/restores.js';
import type { Logger } from '../observe/logger.js';
import { QUERY_MS } from './query-time.js';
import { SCHEMA_COLLECTION, SCHEMA_ID } from './schema-version.js';

/**
 * The clock of the data: a number that only rises, over all processes, their restarts and whatever their wall clocks do.
 * Each process counts on by its monotonic clock, about one a millisecond, and meets the others in the schema record.
 *
 * It also tells a restore: a database that is behind what this process has seen in it is an older copy. The first process
 * that notices, and `npm run db -- restore`, give the data a new generation, so all notice.
 */
interface DataClock {
  _id: string;
  /** The highest number stored; processes may be up to LOOK_EVERY_MS ahead. */
  activity?: number;
  /** Of which copy the data are. */
  generation?: string;
}

/** Interval of looks at the record, ms. A restore is noticed within it, and the clocks of two processes differ by less. */
const LOOK_EVERY_MS = 2_000;

/** An unused clock is stored every n-th look: a restore of an older backup then shows. */
const STORE_EVERY_LOOKS = 5;

/** How far a process may be ahead of the number that it last stored, ms, with a margin. */
const UNSTORED_MS = 2 * LOOK_EVERY_MS;

/** The number at performance.now() 0. */
let origin = Date.now() - performance.now();
/** The highest number handed out here. */
let last = 0;
/** The highest number that the database has shown this process. */
let seen = 0;
let generation: string | undefined;

const fields = { projection: { activity: 1, generation: 1 }, maxTimeMS: QUERY_MS } as const;

const records = () => mongoose.connection.getClient().db().collection<DataClock>(SCHEMA_COLLECTION);

/** From the primary: another server may be behind it. */
const read = () => records().findOne<DataClock>({ _id: SCHEMA_ID }, { ...fields, readPreference: 'primary' });

const update = async (filter: mongo.Filter<DataClock>, change: mongo.UpdateFilter<DataClock>) =>
  (await records().updateOne({ _id: SCHEMA_ID, ...filter }, change)).matchedCount === 1;

/** The next number: above all that this process knows of. */
export function nextActivity(): number {
  last = Math.max(last + 1, Math.floor(origin + performance.now()));
  return last;
}

/** Counts on from a number at least. */
function advance(to: number): void {
  origin = Math.max(origin, to - performance.now());
}

/**
 * Reads the record, and completes one that has no clock, as of data of an earlier release.
 * @param highest the number that data without a clock begin with
 */
async function adopt(highest: () => Promise<number>): Promise<void> {
  let record = await read();
  if (record && record.activity === undefined)
    await update({ activity: { $exists: false } }, { $set: { activity: Math.ceil(await highest()) } });
  if (record && record.generation === undefined)
    await update({ generation: { $exists: false } }, { $set: { generation: randomUUID() } });
  record = await read();
  generation = record?.generation;
  seen = record?.activity ?? 0;
  advance(seen + UNSTORED_MS);
}

/**
 * Begins with what is stored. To be called once the database has a schema record, before the first number is taken.
 * @param highest the highest wall clock (epoch ms) by which data without a clock were written
 */
export const openDataClock = (highest: () => Promise<number>): Promise<void> =>
  adopt(async () => Math.max(Date.now(), await highest()));

/** Stores the number, unless the record is behind or of another copy. */
async function store(): Promise<void> {
  const now = nextActivity();
  if (await update({ generation, activity: { $gte: seen } }, { $max: { activity: now } })) seen = now;
}

/** Compares with the record. @returns whether the database is an older copy */
async function look(): Promise<boolean> {
  const record = await read();
  // Without a record, a restore is under way: its end shows.
  if (!record) return false;
  const { activity = 0 } = record;
  if (record.generation === generation && activity >= seen) {
    seen = activity;
    advance(activity);
    return false;
  }
  if (record.generation === generation && generation !== undefined)
    await update({ generation, activity: { $lt: seen } }, { $set: { generation: randomUUID() } });
  await adopt(async () => last);
  return true;
}

/**
 * Follows the other processes and looks for restores.
 * @returns stops it; the next start skips numbers that were not stored
 */
export function watchDataClock(logger: Logger): () => void {
  let storedAt = last;
  let looks = 0;
  const meet = joinRunning(async () => {
    try {
      if (await look()) {
        logger.warn('the database is an older copy, as after a restore: what is known of it is dropped');
        noteRestore();
      }
      looks += 1;
      if (last === storedAt && looks < STORE_EVERY_LOOKS) return;
      await store();
      storedAt = last;
      looks = 0;
    } catch (error) {
      logger.debug({ err: error }, 'the clock of the data could not be read; the next look retries');
    }
  });
  const timer = setInterval(meet, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
