import { model, Schema } from 'mongoose';
import type { Check } from '../kernel/verification.js';

const Sequence = model(
  'Sequence',
  new Schema<{ _id: SequenceName; value: number }>(
    { _id: String, value: Number },
    { versionKey: false, collection: 'sequences' },
  ),
);

export type SequenceName = 'member' | 'article' | 'comment' | 'adoption' | 'room' | 'notification';

/**
 * Takes the next numbers of a kind of record. Numbers rise and are never given twice; one that was
 * taken for a record that then failed stays unused.
 *
 * @param count how many to take
 * @returns the first of them
 */
export async function nextNumbers(name: SequenceName, count = 1): Promise<number> {
  const after = await Sequence.findOneAndUpdate(
    { _id: name },
    { $inc: { value: count } },
    { upsert: true, returnDocument: 'after' },
  ).lean();
  return after.value - count + 1;
}

/** Moves a sequence past a number that came from outside (an import), so that it is not given again. */
export async function reserveNumber(name: SequenceName, number: number): Promise<void> {
  await Sequence.updateOne({ _id: name }, { $max: { value: number } }, { upsert: true });
}

/**
 * Checks that a sequence stands at or past every number in use: one that is behind would give a number
 * twice.
 *
 * @param highest the highest number in use, 0 for none
 */
export function checkSequence(name: SequenceName, highest: () => Promise<number>): Check {
  return {
    size: async () => 1,
    async *run(looked) {
      // In this order: a number is taken from the sequence before it is used.
      const used = await highest();
      const sequence = await Sequence.findById(name).lean();
      const value = sequence?.value ?? 0;
      if (value < used) {
        yield {
          text: `sequence ${name}: stands at ${value}, but number ${used} is in use`,
          mend: () => reserveNumber(name, used),
        };
      }
      looked(1);
    },
  };
}
