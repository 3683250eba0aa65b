import { model, Schema } from 'mongoose';
import { isAlive } from '../cluster/heartbeat.model.js';
import { databaseTime } from './database-time.js';
import { isDuplicateKey } from './errors.js';

/** The pass that compares all stored values with their records: one process at a time runs it. */
export interface VerifyPass {
  _id: 'verify';
  /** The process that runs it, by the name under which it beats; null between passes. */
  holder: string | null;
  /** When the first pass began. All times are the database's. */
  since: Date;
  startedAt: Date;
  /** When the last complete pass ended, and how many differences it found. */
  doneAt?: Date;
  differences?: number;
}

const Pass = model(
  'VerifyPass',
  new Schema<VerifyPass>(
    { _id: String, holder: String, since: Date, startedAt: Date, doneAt: Date, differences: Number },
    { versionKey: false, collection: 'verify_passes' },
  ),
);

const _id = 'verify' as const;

/** The state as last stored; null before the first pass. */
export const readPass = (): Promise<VerifyPass | null> => Pass.findById(_id).lean().exec();

/**
 * Takes the pass for a process if one is due: `everyMs` after the last one began, or at once if its process died.
 *
 * @param name of a process that beats (cluster/heartbeat.model.ts) and does not run a pass
 * @returns when it began, by which `endPass` knows it; undefined if it is not due, or another process was faster
 */
export async function takePass(name: string, everyMs: number): Promise<Date | undefined> {
  const startedAt = await databaseTime();
  const last = await readPass();
  if (!last) {
    try {
      await Pass.create({ _id, holder: name, since: startedAt, startedAt });
      return startedAt;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }
  const { holder } = last;
  if (holder === null && last.startedAt.getTime() + everyMs > startedAt.getTime()) return undefined;
  if (holder !== null && holder !== name && (await isAlive(holder))) return undefined;
  const unchanged = { _id, holder, startedAt: last.startedAt };
  const { matchedCount } = await Pass.updateOne(unchanged, { $set: { holder: name, startedAt } });
  return matchedCount === 1 ? startedAt : undefined;
}

/**
 * Ends a pass that this process took, unless another has taken it since.
 * @param change what it found; without, another process begins it again at once
 */
export async function endPass(
  name: string,
  startedAt: Date,
  change: Pick<VerifyPass, 'doneAt' | 'differences'> | { startedAt: Date },
): Promise<void> {
  await Pass.updateOne({ _id, holder: name, startedAt }, { $set: { ...change, holder: null } });
}
