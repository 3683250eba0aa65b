import type { Actor } from '../kernel/actor.js';
import { literalPattern } from '../kernel/literal-pattern.js';
import { createCache } from '../platform/cache.js';
import { createGroupedReads, WHOLE_GROUP } from '../platform/grouped-reads.js';
import { Member } from './member.model.js';
import { toActor } from './record-member.js';

/** How long, in ms, another process's change of a nickname may stay unseen here. */
const FRESH_MS = 5_000;

/** Who somebody is, by number: lists show names, and reading them anew for each row would be half the cost. */
export interface MemberDirectory {
  /** The members with these numbers; numbers without a member are left out. */
  lookUp(numbers: Iterable<number>): Promise<Map<number, Actor>>;
  /** The member with this e-mail address, if there is one. */
  findByEmail(email: string): Promise<Actor | undefined>;
  /** The members with these e-mail addresses (lower case) who have not left. */
  findByEmails(emails: string[]): Promise<Map<string, Actor>>;
  /** How many members there are, about: those who have left are among them. */
  count(): Promise<number>;
  /**
   * Numbers of the members whose nickname holds a text, literally and in any case.
   *
   * @param limit most members to find, lowest numbers first
   */
  findByNickname(keyword: string, limit: number): Promise<number[]>;
  /** Takes in what this process has just learnt of a member. */
  remember(member: Actor): void;
  /** What this process has last learnt of a member: a connection's own copy may be as old as itself. */
  latest(member: Actor): Actor;
  /** Every member's number, in batches, lowest first. */
  allNumbers(batch: number): AsyncIterable<number[]>;
}

/** @param max members held in memory */
export function createMemberDirectory(max = 50_000): MemberDirectory {
  const cache = createCache<number, Actor>(max, FRESH_MS);
  const read = createGroupedReads(async (numbers: number[]) => {
    const records = await Member.find({ _id: { $in: numbers } }, null, WHOLE_GROUP).lean();
    return new Map(records.map((record) => [record._id, toActor(record)]));
  });

  return {
    async lookUp(numbers) {
      const found = new Map<number, Actor>();
      const missing: number[] = [];
      for (const no of new Set(numbers)) {
        const member = cache.get(no);
        if (member) found.set(no, member);
        else missing.push(no);
      }
      if (missing.length === 0) return found;
      for (const member of await Promise.all(missing.map(read))) {
        if (!member) continue;
        cache.set(member.no, member);
        found.set(member.no, member);
      }
      return found;
    },

    async findByEmail(email) {
      const record = await Member.findOne({ email: email.toLowerCase() }).lean();
      return record ? toActor(record) : undefined;
    },

    async findByEmails(emails) {
      const records = await Member.find({ email: { $in: emails }, leftAt: { $exists: false } }).lean();
      return new Map(records.map((record) => [record.email, toActor(record)]));
    },

    count() {
      return Member.estimatedDocumentCount();
    },

    async findByNickname(keyword, limit) {
      const records = await Member.find(
        { nickname: { $regex: literalPattern(keyword), $options: 'i' } },
        { _id: 1 },
      )
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return records.map(({ _id }) => _id);
    },

    latest(member) {
      return cache.peek(member.no, { allowStale: true }) ?? member;
    },

    remember(member) {
      cache.set(member.no, member);
    },

    async *allNumbers(batch) {
      let after = 0;
      for (;;) {
        const page = await Member.find({ _id: { $gt: after }, leftAt: { $exists: false } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(batch)
          .lean();
        if (page.length === 0) return;
        yield page.map(({ _id }) => _id);
        after = page[page.length - 1]?._id ?? after;
      }
    },
  };
}
