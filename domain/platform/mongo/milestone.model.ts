import { model, Schema } from 'mongoose';

const Milestone = model(
  'Milestone',
  new Schema<{ _id: MilestoneName; state: MilestoneState }>(
    { _id: String, state: String },
    { versionKey: false, collection: 'milestones' },
  ),
);

/** Work done once per database. */
export type MilestoneName = 'sample-data';

export type MilestoneState = 'begun' | 'done';

/** Progress of the work, by any process; undefined if it never began. */
export async function milestoneState(name: MilestoneName): Promise<MilestoneState | undefined> {
  const record = await Milestone.findById(name).lean();
  return record?.state;
}

/** Records progress: `begun` before the first write, `done` after the last. */
export async function reachMilestone(name: MilestoneName, state: MilestoneState): Promise<void> {
  await Milestone.updateOne({ _id: name }, { $set: { state } }, { upsert: true });
}
