import { model, Schema } from 'mongoose';
import { isDuplicateKey } from '../mongo/errors.js';
import { isAlive } from './heartbeat.model.js';

/** Which process is on duty, by the name under which it beats; null if none is. */
interface DutyRecord {
  _id: 'duty';
  holder: string | null;
}

const Duty = model(
  'Duty',
  new Schema<DutyRecord>({ _id: String, holder: String }, { versionKey: false, collection: 'duties' }),
);

const _id = 'duty' as const;

/**
 * Takes the duty for a process if no process that is alive has it.
 * @param name of a process that beats (heartbeat.model.ts)
 * @returns whether it has the duty
 */
export async function takeDuty(name: string): Promise<boolean> {
  const record = await Duty.findById(_id).lean();
  if (!record) {
    try {
      await Duty.create({ _id, holder: name });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
  const { holder } = record;
  if (holder === name) return true;
  if (holder !== null && (await isAlive(holder))) return false;
  const { matchedCount } = await Duty.updateOne({ _id, holder }, { $set: { holder: name } });
  return matchedCount === 1;
}

/** Gives up the duty, if this process has it. */
export async function leaveDuty(name: string): Promise<void> {
  await Duty.updateOne({ _id, holder: name }, { $set: { holder: null } });
}
