import { model, Schema } from 'mongoose';

const Milestone = model(
  'Milestone',
  new Schema<{ _id: MilestoneName; state: MilestoneState }>(
    { _id: String, state: String },
    { versionKey: false, collection: 'milestones' },
  ),
);

/** Work that is done once in a database's life. */
export type MilestoneName = 'sample-data';

export type MilestoneState = 'begun' | 'done';

/** How far a piece of work got, by whatever process; undefined when it never began. */
export async function milestoneState(name: MilestoneName): Promise<MilestoneState | undefined> {
  const record = await Milestone.findById(name).lean();
  return record?.state;
}

/** Records how far a piece of work got. `begun` goes before its first write, `done` behind its last. */
export async function reachMilestone(name: MilestoneName, state: MilestoneState): Promise<void> {
  await Milestone.updateOne({ _id: name }, { $set: { state } }, { upsert: true });
}
