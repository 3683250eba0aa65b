import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { milestoneState, reachMilestone } from '../../domain/platform/mongo/milestone.model.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import type { AdoptionRow, MemberRow } from '../import/row.schema.js';
import { storeRows } from '../import/store-rows.js';
import { type ActivityRow, articlesOf, type Members, readRows } from './activity.js';
import { Replay } from './replay.js';

/** Rows in the format of `npm run import`. */
const readImportRows = () => readRows<MemberRow | AdoptionRow>('members-and-posts.ndjson');

/** The member of the start message's token, first of the file: has articles, chats and notifications. */
export function sampleMember(): Pick<MemberRow, 'email' | 'nickname' | 'profile'> {
  const { email, nickname, profile } = readImportRows()[0] as MemberRow;
  return { email, nickname, profile };
}

async function isEmpty(domain: Domain): Promise<boolean> {
  for await (const _ of domain.members.directory.allNumbers(1)) return false;
  const { list } = await domain.community.listArticles({ order: 'recent', page: 1, size: 1 });
  return list.length === 0;
}

async function importMembersAndPosts(domain: Domain): Promise<Members> {
  const rows = readImportRows();
  const emails = rows.flatMap((row) => (row.record === 'member' ? [row.email] : []));
  await domain.adoption.reservePostNumbers(rows.length - emails.length);
  await storeRows(
    domain,
    rows.map((row, i) => ({ row, line: i + 1, order: i })),
  );
  const members = await domain.members.directory.findByEmails(emails);
  return new Map(emails.map((email) => [email, members.get(email) as Actor]));
}

/**
 * Fills an empty database with members, adoption posts, articles, chats and notifications of the last two
 * weeks. A database with any member or article is left unchanged, unless they are from an interrupted run of
 * this function: that run is completed without duplicates, as no record's identity depends on the run.
 */
export async function addSampleData(domain: Domain, logger: Logger): Promise<void> {
  const state = await milestoneState('sample-data');
  if (state === 'done' || (state === undefined && !(await isEmpty(domain)))) return;
  const now = systemClock.now();
  await reachMilestone('sample-data', 'begun');
  const members = await importMembersAndPosts(domain);
  const activity = readRows<ActivityRow>('activity.ndjson');
  await domain.community.restoreArticles(articlesOf(activity, members, now));
  await new Replay(domain, members, logger).run(activity, now);
  await reachMilestone('sample-data', 'done');
  logger.info({ ms: systemClock.now() - now }, 'sample data is in the database');
}
