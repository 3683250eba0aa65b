import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import { Article } from './article.model.js';
import type { CommunityDeps } from './community-deps.js';

/** A new article, as documented. */
export interface ArticleDraft {
  categoryId: number;
  title: string;
  context: string;
  imageList: { id: number; url: string }[];
  /** Empty for none. */
  thumbnail: string;
}

async function storeArticle(clock: Clock, actor: Actor, draft: ArticleDraft): Promise<number> {
  const no = await nextNumbers('article');
  await Article.create({
    _id: no,
    authorNo: actor.no,
    categoryId: draft.categoryId,
    title: draft.title,
    context: draft.context,
    images: draft.imageList.map(({ id, url }) => ({ no: id, url })),
    thumbnail: draft.thumbnail || (draft.imageList[0]?.url ?? ''),
    state: 'live',
    publishedAt: new Date(clock.now()),
  });
  return no;
}

/**
 * Publishes an article; its first image replaces a missing thumbnail.
 * @returns its number
 * @throws AppError QUOTA_EXCEEDED
 */
export async function createArticle(
  { clock, quotas }: Pick<CommunityDeps, 'clock' | 'quotas'>,
  actor: Actor,
  draft: ArticleDraft,
): Promise<number> {
  const giveBack = await quotas.take('articles', actor.no);
  const storing = storeArticle(clock, actor, draft);
  storing.catch(giveBack);
  return storing;
}
