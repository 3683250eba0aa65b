import { model, Schema } from 'mongoose';

const Sequence = model(
  'Sequence',
  new Schema(
    { _id: String, value: { type: Number, required: true } },
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
