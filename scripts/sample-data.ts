import type { Domain } from '../domain/domain.js';
import type { Actor } from '../domain/kernel/actor.js';
import { systemClock } from '../domain/kernel/clock.js';
import type { Logger } from '../domain/platform/logger.js';
import { milestoneState, reachMilestone } from '../domain/platform/milestone.model.js';
import { samplePosts } from './sample-data/adoption-posts.js';
import { type MemberKey, memberKeys, sampleMember } from './sample-data/members.js';
import { placeArticles } from './sample-data/place-articles.js';
import { liveThrough } from './sample-data/timeline.js';

export { SAMPLE_MEMBER } from './sample-data/members.js';

async function isEmpty(domain: Domain): Promise<boolean> {
  for await (const _ of domain.members.directory.allNumbers(1)) return false;
  const { list } = await domain.community.listArticles({ order: 'recent', page: 1, size: 1 });
  return list.length === 0;
}

/** The members, numbered in the order of their keys. */
async function writeMembers(domain: Domain): Promise<Record<MemberKey, Actor>> {
  const members: Partial<Record<MemberKey, Actor>> = {};
  for (const key of memberKeys) {
    // Dated at the beginning of time: whatever a token says of the member is newer.
    members[key] = await domain.members.record({ ...sampleMember(key), issuedAt: 0 });
  }
  return members as Record<MemberKey, Actor>;
}

async function writePosts(domain: Domain, members: Record<MemberKey, Actor>): Promise<void> {
  await Promise.all(
    samplePosts.map(({ by, picture, ...post }, i) =>
      domain.adoption.savePost({ ...post, id: i + 1, authorNo: members[by].no, thumbnail: picture }),
    ),
  );
}

/**
 * Fills an empty database with members, articles, adoption posts, chats and notifications of the last
 * two weeks, so that a first start has something to show. Does nothing where there is any member or
 * article already, unless those are what an interrupted run of this very function has left: then it is
 * finished, without doubles, because every record has an identity that does not depend on the run.
 */
export async function addSampleData(domain: Domain, logger: Logger): Promise<void> {
  const state = await milestoneState('sample-data');
  if (state === 'done' || (state === undefined && !(await isEmpty(domain)))) return;
  const began = systemClock.now();
  await reachMilestone('sample-data', 'begun');
  const members = await writeMembers(domain);
  const articles = placeArticles(members, began);
  await Promise.all([writePosts(domain, members), domain.community.restoreArticles(articles)]);
  await liveThrough(domain, members, articles, logger, began);
  await reachMilestone('sample-data', 'done');
  logger.info({ ms: systemClock.now() - began }, 'sample data is in the database');
}
