import type { Actor, Person, Role } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { isSameText } from '../kernel/same-text.js';
import { createGroupedReads } from '../platform/async/grouped-reads.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import { findMembers, Member, type MemberRecord } from './member.model.js';
import { shownName, shownPicture } from './shown-claims.js';

/** A member's data from a token or an import. */
export interface MemberFacts {
  email: string;
  nickname?: string;
  profile?: string;
  /** The role an import grants. */
  role?: Role;
  /** Time of the data, epoch seconds. */
  issuedAt: number;
}

/**
 * A member who has never had a name is named by the local part of their address (contract, section 2), which has ASCII
 * characters only.
 */
function nicknameFrom(email: string): string {
  return email.slice(0, email.indexOf('@')).slice(0, 50);
}

/** The member as others see them; earlier versions stored names and pictures as they were claimed. */
export function toPerson({ _id, email, nickname, profile }: MemberRecord): Person {
  return {
    no: _id,
    email,
    nickname: shownName(nickname) ?? nicknameFrom(email),
    profile: (profile && shownPicture(profile)) || '',
  };
}

/**
 * The role of a member who calls with a token: what an import granted, whatever the token claims, else what this token
 * claims. It is stored nowhere, so that it neither outlives the token nor counts for another one.
 *
 * @param claimed null for none
 */
function roleOf({ role, granted }: MemberRecord, claimed: Role | null): Role {
  // Earlier versions stored ADMIN without the mark.
  const isGranted = granted || role === 'ADMIN';
  return isGranted ? role : (claimed ?? 'USER');
}

/** @param claimed the role that the token in hand claims; null without one */
export function toActor(member: MemberRecord, claimed: Role | null): Actor {
  return { ...toPerson(member), role: roleOf(member, claimed) };
}

/** The fields that newer facts change; absent ones stay. */
export function changesOf(member: MemberRecord, facts: MemberFacts): Partial<MemberRecord> {
  if (facts.issuedAt < member.claimsAt) return {};
  const changes: Partial<MemberRecord> = {};
  if (facts.nickname && !isSameText(facts.nickname, member.nickname)) changes.nickname = facts.nickname;
  if (facts.profile !== undefined && facts.profile !== member.profile) changes.profile = facts.profile;
  if (facts.role && facts.role !== member.role) changes.role = facts.role;
  if (facts.role && !member.granted) changes.granted = true;
  return changes;
}

const findMember = createGroupedReads(findMembers);

/**
 * Finds, creates or updates the member of an e-mail address. Two concurrent first requests create one
 * member.
 *
 * @throws AppError UNAUTHORIZED if the member has left
 */
export async function recordMember(clock: Clock, facts: MemberFacts): Promise<MemberRecord> {
  const found = await findMember(facts.email);
  if (!found) return createMember(clock, facts);
  if (found.leftAt) throw new AppError('UNAUTHORIZED', 'this member has left');
  const changes = changesOf(found, facts);
  // The time is stored even if nothing changes: else older facts, newer than the last change, would undo
  // what these confirm.
  if (Object.keys(changes).length === 0 && facts.issuedAt <= found.claimsAt) return found;
  const { matchedCount } = await Member.updateOne(
    { _id: found._id, claimsAt: { $lte: facts.issuedAt } },
    { $set: { ...changes, claimsAt: facts.issuedAt } },
  );
  // Newer facts were stored meanwhile.
  if (matchedCount === 0) return recordMember(clock, facts);
  return { ...found, ...changes };
}

/** The record of a new member. */
export function newMember(clock: Clock, no: number, facts: MemberFacts): MemberRecord {
  return {
    _id: no,
    email: facts.email,
    nickname: facts.nickname ?? nicknameFrom(facts.email),
    profile: facts.profile ?? '',
    role: facts.role ?? 'USER',
    ...(facts.role ? { granted: true } : {}),
    claimsAt: facts.issuedAt,
    createdAt: new Date(clock.now()),
  };
}

async function createMember(clock: Clock, facts: MemberFacts): Promise<MemberRecord> {
  const member = newMember(clock, await nextNumbers('member'), facts);
  try {
    await Member.create(member);
    return member;
  } catch (error) {
    // Created by a concurrent request.
    if (isDuplicateKey(error)) return recordMember(clock, facts);
    throw error;
  }
}
