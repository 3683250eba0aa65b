import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { insertNew } from '../platform/mongo/inserts.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import { findMembers, Member, type MemberRecord } from './member.model.js';
import { changesOf, type MemberFacts, newMember, toActor } from './record-member.js';

/** `left`: the member has left, and nothing was changed. */
export interface SavedMember {
  actor: Actor;
  outcome: 'created' | 'updated' | 'unchanged' | 'left';
}

/**
 * Creates and updates members in a few writes, each member by one of them: an interruption leaves whole
 * members, and repeating the call completes it.
 *
 * @param facts no e-mail address twice, in lower case
 * @returns the outcomes in order
 */
export async function saveMembers(clock: Clock, facts: MemberFacts[]): Promise<SavedMember[]> {
  const known = await findMembers(facts.map(({ email }) => email));
  const fresh = facts.filter(({ email }) => !known.has(email));
  const first = fresh.length > 0 ? await nextNumbers('member', fresh.length) : 0;
  const created = fresh.map((fact, i) => newMember(clock, first + i, fact));
  const refused = await insertNew(Member, created);
  // Created by their first requests meanwhile.
  const others = await findMembers(refused.map(({ email }) => email));
  for (const [email, record] of others) known.set(email, record);
  const createdByEmail = new Map(created.map((record) => [record.email, record]));

  const updates: { _id: number; changes: Partial<MemberRecord> & { claimsAt: number } }[] = [];
  const saved = facts.map((fact): SavedMember => {
    const record = known.get(fact.email);
    if (!record) {
      return { actor: toActor(createdByEmail.get(fact.email) as MemberRecord, null), outcome: 'created' };
    }
    if (record.leftAt) return { actor: toActor(record, null), outcome: 'left' };
    const changes = changesOf(record, fact);
    const isChanged = Object.keys(changes).length > 0;
    // The time is stored even if nothing changes, as in recordMember.
    if (isChanged || fact.issuedAt > record.claimsAt)
      updates.push({ _id: record._id, changes: { ...changes, claimsAt: fact.issuedAt } });
    return { actor: toActor({ ...record, ...changes }, null), outcome: isChanged ? 'updated' : 'unchanged' };
  });
  if (updates.length > 0) {
    await Member.bulkWrite(
      updates.map(({ _id, changes }) => ({
        // Newer facts may have been stored meanwhile.
        updateOne: { filter: { _id, claimsAt: { $lte: changes.claimsAt } }, update: { $set: changes } },
      })),
      { ordered: false },
    );
  }
  return saved;
}
