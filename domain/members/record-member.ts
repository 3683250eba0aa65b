import type { Actor, Role } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { createGroupedReads, WHOLE_GROUP } from '../platform/grouped-reads.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import { nextNumbers } from '../platform/sequence.model.js';
import { Member, type MemberRecord } from './member.model.js';

/** What is known of a member from a token or an import. */
export interface MemberFacts {
  email: string;
  nickname?: string;
  profile?: string;
  role?: Role;
  /** Epoch seconds from which the facts date. */
  issuedAt: number;
}

/** The public part of an address is all a member without a nickname has to be called by. */
function nicknameFrom(email: string): string {
  return email.slice(0, email.indexOf('@')).slice(0, 50);
}

export function toActor(member: MemberRecord): Actor {
  const { _id, email, nickname, profile, role } = member;
  return { no: _id, email, nickname, profile, role };
}

/** The fields in which newer facts differ from the record; what the facts do not say stays as it is. */
export function changesOf(member: MemberRecord, facts: MemberFacts): Partial<MemberRecord> {
  if (facts.issuedAt < member.claimsAt) return {};
  const changes: Partial<MemberRecord> = {};
  if (facts.nickname && facts.nickname !== member.nickname) changes.nickname = facts.nickname;
  if (facts.profile !== undefined && facts.profile !== member.profile) changes.profile = facts.profile;
  if (facts.role && facts.role !== member.role) changes.role = facts.role;
  return changes;
}

const findMember = createGroupedReads(async (emails: string[]) => {
  const records = await Member.find({ email: { $in: emails } }, null, WHOLE_GROUP).lean();
  return new Map(records.map((record) => [record.email, record]));
});

/**
 * Finds the member of an e-mail address, creating it at first sight and updating what has changed
 * since. Two first requests at the same instant make one member.
 *
 * @throws AppError UNAUTHORIZED when the member has left
 */
export async function recordMember(clock: Clock, facts: MemberFacts): Promise<Actor> {
  const found = await findMember(facts.email);
  if (!found) return createMember(clock, facts);
  if (found.leftAt) throw new AppError('UNAUTHORIZED', 'this member has left');
  const changes = changesOf(found, facts);
  // The date is kept also where nothing differs: else facts older than these, but newer than the last
  // change, would undo what these confirm.
  if (Object.keys(changes).length === 0 && facts.issuedAt <= found.claimsAt) return toActor(found);
  const { matchedCount } = await Member.updateOne(
    { _id: found._id, claimsAt: { $lte: facts.issuedAt } },
    { $set: { ...changes, claimsAt: facts.issuedAt } },
  );
  // Newer facts came in meanwhile: they stand.
  if (matchedCount === 0) return recordMember(clock, facts);
  return toActor({ ...found, ...changes });
}

/** The record of a member who is seen for the first time. */
export function newMember(clock: Clock, no: number, facts: MemberFacts): MemberRecord {
  return {
    _id: no,
    email: facts.email,
    nickname: facts.nickname ?? nicknameFrom(facts.email),
    profile: facts.profile ?? '',
    role: facts.role ?? 'USER',
    claimsAt: facts.issuedAt,
    createdAt: new Date(clock.now()),
  };
}

async function createMember(clock: Clock, facts: MemberFacts): Promise<Actor> {
  const member = newMember(clock, await nextNumbers('member'), facts);
  try {
    await Member.create(member);
    return toActor(member);
  } catch (error) {
    // Somebody else's first request created it in the meantime.
    if (isDuplicateKey(error)) return recordMember(clock, facts);
    throw error;
  }
}
