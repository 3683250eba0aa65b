import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { model, Schema } from 'mongoose';
import { databaseTime } from '../mongo/database-time.js';
import type { Logger } from '../observe/logger.js';
import { onRestore } from './restores.js';

/** How often a process of the service beats, ms. */
export const BEAT_EVERY_MS = 30_000;

/** Time until a beat that could not be stored is tried again, ms: before its first one, nobody misses a process that is silent. */
const RETRY_AFTER_MS = 1_000;

/** Time after its last beat from which a process counts as dead, ms: it may miss two. */
const DEAD_AFTER_MS = 3 * BEAT_EVERY_MS;

/** Age from which the last beat of a killed process is of no use to anybody, ms. */
const FORGOTTEN_AFTER_MS = 86_400_000;

/** Longest time that a stop waits for the database, ms. */
const STOP_MS = 1_000;

/** `at` is the database's time. */
const schema = new Schema<{ _id: string; at: Date }>(
  { _id: String, at: Date },
  { versionKey: false, collection: 'heartbeats' },
);
schema.index({ at: 1 });

const Heartbeat = model('Heartbeat', schema);

/** A name of this process that no other has; people read the part before the comma. */
export const uniqueProcessName = () => `process ${process.pid} on ${hostname()}, ${randomUUID().slice(0, 8)}`;

const timeBefore = async (ms: number) => new Date((await databaseTime()).getTime() - ms);

const alive = async () => ({ at: { $gt: await timeBefore(DEAD_AFTER_MS) } });

/** Of processes that were killed. */
async function removeForgotten(): Promise<void> {
  await Heartbeat.deleteMany({ at: { $lt: await timeBefore(FORGOTTEN_AFTER_MS) } });
}

/**
 * Shows from now on that a process serves from this database.
 * @returns the end of it; with `asKilled`, the process counts as running until its last beat is old
 */
export async function startBeating(
  name: string,
  logger: Logger,
): Promise<(asKilled?: boolean) => Promise<void>> {
  let isFailing = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;
  async function beat(): Promise<void> {
    try {
      await Heartbeat.updateOne({ _id: name }, { $set: { at: await databaseTime() } }, { upsert: true });
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'heartbeats cannot be stored; they are retried');
      isFailing = true;
      clearTimeout(retry);
      retry = setTimeout(beatNow, RETRY_AFTER_MS).unref();
    }
  }
  let last: Promise<void>;
  const beatNow = () => {
    if (!isStopped) last = beat();
  };
  last = beat();
  const timer = setInterval(beatNow, BEAT_EVERY_MS).unref();
  // An older copy shows those that ran then.
  const stopListening = onRestore(beatNow);
  await last;
  // There is no hurry: the next start removes what this one cannot.
  removeForgotten().catch(() => {});
  return async (asKilled = false) => {
    clearInterval(timer);
    stopListening();
    isStopped = true;
    if (asKilled) return;
    const removed = last.then(() => Heartbeat.deleteOne({ _id: name })).catch(() => {});
    // If the database does not answer, others take the process for dead after DEAD_AFTER_MS.
    await Promise.race([removed, sleep(STOP_MS, undefined, { ref: false })]);
  };
}

/** Whether a process beat lately. */
export async function isAlive(name: string): Promise<boolean> {
  return !!(await Heartbeat.exists({ _id: name, ...(await alive()) }));
}

/** The processes of the service that beat lately; one that was killed is among them for 90 s. */
export async function livingProcesses(): Promise<string[]> {
  const living = await Heartbeat.find(await alive())
    .sort({ _id: 1 })
    .lean();
  return living.map(({ _id }) => _id);
}
