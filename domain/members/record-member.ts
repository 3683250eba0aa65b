import type { Actor, Role } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { createGroupedReads } from '../platform/grouped-reads.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import { nextNumbers } from '../platform/sequence.model.js';
import { findMembers, Member, type MemberRecord } from './member.model.js';

/** A member's data from a token or an import. */
export interface MemberFacts {
  email: string;
  nickname?: string;
  profile?: string;
  /** The role an import grants. */
  role?: Role;
  /** The role a token claims; null for none, which ends an earlier token's. */
  claimedRole?: Role | null;
  /** Time of the data, epoch seconds. */
  issuedAt: number;
}

/** A member without a nickname is named by the local part of their address. */
function nicknameFrom(email: string): string {
  return email.slice(0, email.indexOf('@')).slice(0, 50);
}

/**
 * The member as the caller of a use case. A role that a token claims replaces the one an import granted, in both
 * directions: the token is newer, and its issuer decides, so its USER ends an imported ADMIN until a token claims none.
 */
export function toActor(member: MemberRecord): Actor {
  const { _id, email, nickname, profile, role, claimedRole } = member;
  return { no: _id, email, nickname, profile, role: claimedRole ?? role };
}

/** The fields that newer facts change; absent ones stay, but for the claimed role. */
export function changesOf(member: MemberRecord, facts: MemberFacts): Partial<MemberRecord> {
  if (facts.issuedAt < member.claimsAt) return {};
  const changes: Partial<MemberRecord> = {};
  if (facts.nickname && facts.nickname !== member.nickname) changes.nickname = facts.nickname;
  if (facts.profile !== undefined && facts.profile !== member.profile) changes.profile = facts.profile;
  if (facts.role && facts.role !== member.role) changes.role = facts.role;
  // An imported role replaces the claimed one, until a newer token claims another.
  const claimedRole = facts.role ? null : facts.claimedRole;
  if (claimedRole !== undefined && claimedRole !== (member.claimedRole ?? null)) {
    changes.claimedRole = claimedRole;
  }
  return changes;
}

const findMember = createGroupedReads(findMembers);

/**
 * Finds, creates or updates the member of an e-mail address. Two concurrent first requests create one
 * member.
 *
 * @throws AppError UNAUTHORIZED if the member has left
 */
export async function recordMember(clock: Clock, facts: MemberFacts): Promise<Actor> {
  const found = await findMember(facts.email);
  if (!found) return createMember(clock, facts);
  if (found.leftAt) throw new AppError('UNAUTHORIZED', 'this member has left');
  const changes = changesOf(found, facts);
  // The time is stored even if nothing changes: else older facts, newer than the last change, would undo
  // what these confirm.
  if (Object.keys(changes).length === 0 && facts.issuedAt <= found.claimsAt) return toActor(found);
  const { matchedCount } = await Member.updateOne(
    { _id: found._id, claimsAt: { $lte: facts.issuedAt } },
    { $set: { ...changes, claimsAt: facts.issuedAt } },
  );
  // Newer facts were stored meanwhile.
  if (matchedCount === 0) return recordMember(clock, facts);
  return toActor({ ...found, ...changes });
}

/** The record of a new member. */
export function newMember(clock: Clock, no: number, facts: MemberFacts): MemberRecord {
  return {
    _id: no,
    email: facts.email,
    nickname: facts.nickname ?? nicknameFrom(facts.email),
    profile: facts.profile ?? '',
    role: facts.role ?? 'USER',
    ...(facts.claimedRole ? { claimedRole: facts.claimedRole } : {}),
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
    // Created by a concurrent request.
    if (isDuplicateKey(error)) return recordMember(clock, facts);
    throw error;
  }
}
