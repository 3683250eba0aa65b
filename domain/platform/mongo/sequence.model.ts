import { model, Schema } from 'mongoose';
import type { Check, Finding } from '../../kernel/verification.js';
import { readRecords } from './records.js';

const Sequence = model(
  'Sequence',
  new Schema<{ _id: SequenceName; value: number }>(
    { _id: String, value: Number },
    { versionKey: false, collection: 'sequences' },
  ),
);

/**
 * Highest number that is assigned. Numbers from outside may be higher, such as the 15 digits that Korean shelters give an
 * animal (유기번호): a sequence raised to one of these would assign what a shelter assigns next.
 */
export const HIGHEST_ASSIGNED = 1_000_000_000_000;

export type SequenceName = 'member' | 'article' | 'comment' | 'adoption' | 'room' | 'notification';

/**
 * Takes the next numbers of a sequence. Numbers rise and are never assigned twice; those of failed writes
 * stay unused.
 *
 * @returns the first of `count` numbers
 */
export async function nextNumbers(name: SequenceName, count = 1): Promise<number> {
  const after = await Sequence.findOneAndUpdate(
    { _id: name },
    { $inc: { value: count } },
    { upsert: true, returnDocument: 'after' },
  ).lean();
  return after.value - count + 1;
}

/** Raises a sequence to the numbers from outside (import) that it would assign again. */
export async function reserveNumbers(name: SequenceName, numbers: number[]): Promise<void> {
  const value = Math.max(0, ...numbers.filter((number) => number <= HIGHEST_ASSIGNED));
  if (value > 0) await Sequence.updateOne({ _id: name }, { $max: { value } }, { upsert: true });
}

/** The highest number of a record in a collection that a sequence may have assigned; 0 without any. */
export async function highestNumber(model: { collection: unknown }): Promise<number> {
  const options = { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 } as const;
  const [last] = await readRecords<{ _id: number }>(model, { _id: { $lte: HIGHEST_ASSIGNED } }, options);
  return last?._id ?? 0;
}

/**
 * Checks that a sequence is not below the numbers in use, which it would assign again.
 *
 * @param highest the highest number in use, 0 for none
 */
export function checkSequence(
  area: Finding['area'],
  name: SequenceName,
  highest: () => Promise<number>,
): Check {
  return {
    size: async () => 1,
    async *run(checked) {
      // In this order: numbers are taken before they are used.
      const used = await highest();
      const sequence = await Sequence.findById(name).lean();
      const value = sequence?.value ?? 0;
      if (value < used) {
        yield {
          ...{ area, kind: 'sequence', record: `sequence ${name}`, found: value, expected: used },
          text: `sequence ${name}: stands at ${value}, but number ${used} is in use`,
          repair: () => reserveNumbers(name, [used]),
        };
      }
      await checked(1);
    },
  };
}
