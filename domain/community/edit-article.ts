import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Article } from './article.model.js';
import { requireMayChange } from './community.policy.js';
import type { ArticleDraft } from './create-article.js';
import { requireArticle } from './require-article.js';

/** The fields to replace; absent ones stay. The image list is replaced as a whole. */
export type ArticleChanges = { [K in keyof ArticleDraft]?: ArticleDraft[K] | undefined };

/** @throws AppError ARTICLE_NOT_FOUND, FORBIDDEN */
export async function editArticle(actor: Actor, articleId: number, changes: ArticleChanges): Promise<void> {
  requireMayChange(actor, await requireArticle(articleId), 'edit an article');
  const { categoryId, title, context, imageList, thumbnail } = changes;
  const images = imageList?.map(({ id, url }) => ({ no: id, url }));
  const { matchedCount } = await Article.updateOne(
    { _id: articleId, state: 'live' },
    // Mongoose omits undefined fields.
    { $set: { categoryId, title, context, images, thumbnail } },
  );
  // Deleted meanwhile.
  if (matchedCount === 0) throw new AppError('ARTICLE_NOT_FOUND');
}
