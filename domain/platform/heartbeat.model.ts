import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { model, Schema } from 'mongoose';
import type { Logger } from './logger.js';

/** How often a process of the service beats, ms. */
export const BEAT_EVERY_MS = 30_000;

/** Time after its last beat from which a process counts as dead, ms. It includes a little for clocks that differ. */
const DEAD_AFTER_MS = 3 * BEAT_EVERY_MS;

/** Age from which the last beat of a killed process is of no use to anybody, ms. */
const FORGOTTEN_AFTER_MS = 86_400_000;

const schema = new Schema<{ _id: string; at: Date }>(
  { _id: String, at: Date },
  { versionKey: false, collection: 'heartbeats' },
);
schema.index({ at: 1 });

const Heartbeat = model('Heartbeat', schema);

/** A name of this process that no other has; people read the part before the comma. */
export const uniqueProcessName = () => `process ${process.pid} on ${hostname()}, ${randomUUID().slice(0, 8)}`;

const alive = () => ({ at: { $gt: new Date(Date.now() - DEAD_AFTER_MS) } });

/** Shows from now on that a process serves from this database. @returns the end of it */
export async function startBeating(name: string, logger: Logger): Promise<() => Promise<void>> {
  const beat = () =>
    Heartbeat.updateOne({ _id: name }, { $set: { at: new Date() } }, { upsert: true }).then(
      () => {},
      (error) => logger.warn({ err: error }, 'the heartbeat could not be stored; retrying later'),
    );
  let last = beat();
  // Of processes that were killed. There is no hurry: the next start removes what this one cannot.
  await Heartbeat.deleteMany({ at: { $lt: new Date(Date.now() - FORGOTTEN_AFTER_MS) } }).catch(() => {});
  const timer = setInterval(() => {
    last = beat();
  }, BEAT_EVERY_MS).unref();
  await last;
  return async () => {
    clearInterval(timer);
    await last;
    // If the database does not answer, others take the process for dead after DEAD_AFTER_MS.
    await Heartbeat.deleteOne({ _id: name }).catch(() => {});
  };
}

/** Whether a process beat lately. */
export async function isAlive(name: string): Promise<boolean> {
  return !!(await Heartbeat.exists({ _id: name, ...alive() }));
}

/** The processes of the service that beat lately; one that was killed is among them for 90 s. */
export async function livingProcesses(): Promise<string[]> {
  const living = await Heartbeat.find(alive()).sort({ _id: 1 }).lean();
  return living.map(({ _id }) => _id);
}
