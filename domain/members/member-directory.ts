import type { Person } from '../kernel/actor.js';
import { createCache } from '../platform/async/cache.js';
import { createGroupedReads, WHOLE_GROUP } from '../platform/async/grouped-reads.js';
import { joinRunningOf } from '../platform/async/shared-runs.js';
import { findMembers, Member } from './member.model.js';
import { toPerson } from './record-member.js';

/** Longest time, ms, until a nickname changed by another serving process is seen here. */
const FRESH_MS = 5_000;

/** How long, ms, a member is kept in memory. */
const KEPT_MS = 60_000;

/** The member with this e-mail address. */
async function findByEmail(email: string): Promise<Person | undefined> {
  const [record] = (await findMembers([email.toLowerCase()])).values();
  return record && toPerson(record);
}

/** The members with these e-mail addresses (lower case) who have not left. */
async function findByEmails(emails: string[]): Promise<Map<string, Person>> {
  const members = [...(await findMembers(emails)).values()].filter(({ leftAt }) => leftAt === undefined);
  return new Map(members.map((member) => [member.email, toPerson(member)]));
}

/** The numbers of all members who have not left, in batches, lowest first. */
async function* allNumbers(batch: number): AsyncGenerator<number[]> {
  let after = 0;
  for (;;) {
    const page = await Member.find({ _id: { $gt: after }, leftAt: { $exists: false } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(batch)
      .lean();
    const last = page.at(-1);
    if (!last) return;
    yield page.map(({ _id }) => _id);
    after = last._id;
  }
}

/**
 * Members by number, cached: lists show names, and reading them for each row would be half the cost.
 * @param isShared whether other processes serve, too. Past one that is alone only an import changes members, which it
 *   shows within KEPT_MS
 */
export function createMemberDirectory(isShared = true) {
  const freshMs = isShared ? FRESH_MS : KEPT_MS;
  const cache = createCache<number, Person>(50_000, KEPT_MS);
  const read = createGroupedReads(async (numbers: number[]) => {
    const records = await Member.find({ _id: { $in: numbers } }, null, WHOLE_GROUP).lean();
    return new Map(records.map((record) => [record._id, toPerson(record)]));
  });
  const readMissing = joinRunningOf(async (no: number) => {
    const since = performance.now();
    const member = await read(no);
    if (member) keep(member, since);
    return member;
  });

  /** Caches what was read, unless this process has learnt something newer since the read began (performance.now()). */
  function keep(member: Person, since: number): void {
    const age = KEPT_MS - cache.getRemainingTTL(member.no);
    if (performance.now() - age < since) cache.set(member.no, member);
  }

  return {
    /** The members with these numbers; unknown numbers are left out. */
    async lookUp(numbers: Iterable<number>): Promise<Map<number, Person>> {
      const found = new Map<number, Person>();
      const missing: number[] = [];
      for (const no of new Set(numbers)) {
        const isFresh = cache.getRemainingTTL(no) > KEPT_MS - freshMs;
        const member = isFresh ? cache.get(no) : undefined;
        if (member) found.set(no, member);
        else missing.push(no);
      }
      if (missing.length === 0) return found;
      const since = performance.now();
      for (const member of await Promise.all(missing.map(read))) {
        if (!member) continue;
        keep(member, since);
        found.set(member.no, member);
      }
      return found;
    },
    /** Caches what this process has just learnt of a member. */
    remember(member: Person): void {
      cache.set(member.no, member);
    },
    /**
     * What a member is now, as far as this process knows, else the database: a connection's copy may be as old as the
     * connection. Callers go on in the order in which they came.
     */
    async current(member: Person): Promise<Person> {
      const { no } = member;
      return (await (readMissing.running(no) ?? cache.get(no) ?? readMissing(no))) ?? member;
    },
    findByEmail,
    findByEmails,
    allNumbers,
    /** Approximate number of members, including those who have left. */
    count: (): Promise<number> => Member.estimatedDocumentCount(),
  };
}

export type MemberDirectory = ReturnType<typeof createMemberDirectory>;
