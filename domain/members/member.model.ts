import { model, Schema } from 'mongoose';
import type { Role } from '../kernel/actor.js';

export interface MemberRecord {
  /** Member number. */
  _id: number;
  email: string;
  nickname: string;
  profile: string;
  role: Role;
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
    claimsAt: Number,
    createdAt: { type: Date, required: true },
    leftAt: Date,
  },
  { versionKey: false, collection: 'members' },
);
schema.index({ email: 1 }, { unique: true });

export const Member = model('Member', schema);
