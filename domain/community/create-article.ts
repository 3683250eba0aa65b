import type { Actor } from '../kernel/actor.js';
import { nextNumbers } from '../platform/sequence.model.js';
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

/** Publishes an article; its first image replaces a missing thumbnail. @returns its number */
export async function createArticle(
  { clock }: Pick<CommunityDeps, 'clock'>,
  actor: Actor,
  draft: ArticleDraft,
): Promise<number> {
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
