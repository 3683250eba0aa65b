import { AppError } from '../../kernel/errors.js';
import { createGroupedReads } from '../../platform/grouped-reads.js';
import { readRecords } from '../../platform/mongo/records.js';
import { Article, type ArticleRecord } from './article.model.js';

type LiveArticle = Pick<ArticleRecord, '_id' | 'authorNo'>;

const readLive = createGroupedReads(async (numbers: number[]) => {
  const articles = await readRecords<ArticleRecord>(
    Article,
    { _id: { $in: numbers }, state: 'live' },
    { projection: { authorNo: 1 } },
  );
  return new Map<number, LiveArticle>(articles.map((article) => [article._id, article]));
});

/**
 * The live article of a number, for what is done to or under it.
 * @throws AppError ARTICLE_NOT_FOUND when there is none, or it was deleted
 */
export async function requireArticle(articleId: number): Promise<LiveArticle> {
  const article = await readLive(articleId);
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  return article;
}
