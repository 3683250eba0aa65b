import { reserveNumbers } from '../platform/mongo/sequence.model.js';
import { Article } from './article.model.js';
import { Comment } from './comment.model.js';
import type { CommunityDeps } from './community-deps.js';
import type { ArticleDraft } from './create-article.js';
import { Heart, type HeartTarget } from './heart.model.js';

export interface RestoredHeart {
  memberNo: number;
  at: Date;
}

/** A comment or reply with its number. */
export interface RestoredComment {
  id: number;
  /** The comment that a reply answers; 0 for a comment on the article. */
  parentId: number;
  authorNo: number;
  context: string;
  publishedAt: Date;
  hearts: RestoredHeart[];
}

/** An article with its number, comments and hearts. */
export interface RestoredArticle extends ArticleDraft {
  id: number;
  authorNo: number;
  views: number;
  publishedAt: Date;
  comments: RestoredComment[];
  hearts: RestoredHeart[];
}

type Write = Parameters<typeof Article.bulkWrite>[0][number];

/** Inserts a record unless one with this identity exists. */
function storeOnce(identity: Record<string, unknown>, record: Record<string, unknown>): Write {
  return { updateOne: { filter: identity, update: { $setOnInsert: record }, upsert: true } } as Write;
}

function articleWrite({ id, imageList, comments, hearts, ...article }: RestoredArticle): Write {
  const images = imageList.map(({ id: no, url }) => ({ no, url }));
  const counts = { hearts: hearts.length, comments: comments.length };
  return storeOnce({ _id: id }, { ...article, ...counts, images, state: 'live' });
}

function commentWrite(articleId: number, { id, hearts, ...comment }: RestoredComment): Write {
  return storeOnce({ _id: id }, { ...comment, articleId, hearts: hearts.length, state: 'live' });
}

function heartWrite(target: HeartTarget, id: number, articleId: number, heart: RestoredHeart): Write {
  const { memberNo, at } = heart;
  return storeOnce({ target, id, memberNo }, { articleId, on: true, at, turn: 1 });
}

/**
 * Stores articles, comments and hearts with their numbers, times and views. Existing records stay unchanged,
 * so an interrupted call may be repeated; nobody is notified.
 *
 * Records are stored before the record that holds their count, so every stored count is correct from the
 * start: nobody can give a heart to an article that does not exist yet.
 *
 * @param articles few enough for memory; numbers rise with time, of articles and of comments
 */
export async function restoreArticles(
  { trending }: Pick<CommunityDeps, 'trending'>,
  articles: RestoredArticle[],
): Promise<void> {
  const comments = articles.flatMap((article) => article.comments);
  // Reserved before use: concurrent writers do not get the same numbers.
  await Promise.all([
    reserveNumbers(
      'article',
      articles.map(({ id }) => id),
    ),
    reserveNumbers(
      'comment',
      comments.map(({ id }) => id),
    ),
  ]);
  await Heart.bulkWrite(
    articles.flatMap((article) => [
      ...article.hearts.map((heart) => heartWrite('article', article.id, article.id, heart)),
      ...article.comments.flatMap(({ id, hearts }) =>
        hearts.map((heart) => heartWrite('comment', id, article.id, heart)),
      ),
    ]),
    { ordered: false },
  );
  await Comment.bulkWrite(
    articles.flatMap((article) => article.comments.map((comment) => commentWrite(article.id, comment))),
    { ordered: false },
  );
  await Article.bulkWrite(articles.map(articleWrite), { ordered: false });
  for (const { id } of articles) trending.heartsChanged(id);
}
