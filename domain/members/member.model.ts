import { model, Schema } from 'mongoose';
import type { Role } from '../kernel/actor.js';
import { WHOLE_GROUP } from '../platform/async/grouped-reads.js';

export interface MemberRecord {
  /** Member number. */
  _id: number;
  email: string;
  nickname: string;
  profile: string;
  /**
   * What an import granted; USER if none granted any. Earlier versions stored here the ADMIN of a token, too
   * (docs/operations.md, "Administrators of earlier versions").
   */
  role: Role;
  /** An import granted `role`, USER too: it stands above what tokens claim. Earlier versions do not set it. */
  granted?: true;
  /** `iat` of the token that last set the fields, epoch seconds; older tokens change nothing. */
  claimsAt: number;
  createdAt: Date;
  /** When the member left; their tokens are refused. */
  leftAt?: Date;
}

const schema = new Schema<MemberRecord>(
  {
    _id: Number,
    email: { type: String, required: true },
    nickname: { type: String, required: true },
    profile: String,
    role: { type: String, enum: ['USER', 'ADMIN'], required: true },
    granted: Boolean,
    claimsAt: Number,
    createdAt: { type: Date, required: true },
    leftAt: Date,
  },
  { versionKey: false, collection: 'members' },
);
schema.index({ email: 1 }, { unique: true });

export const Member = model('Member', schema);

/** The members with these e-mail addresses (lower case), by address, including those who have left. */
export async function findMembers(emails: string[]): Promise<Map<string, MemberRecord>> {
  const records = await Member.find({ email: { $in: emails } }, null, WHOLE_GROUP).lean();
  return new Map(records.map((record) => [record.email, record]));
}
