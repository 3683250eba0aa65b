import { reserveNumber } from '../platform/sequence.model.js';
import { Article } from './articles/article.model.js';
import type { ArticleDraft } from './articles/create-article.js';
import { Comment } from './comments/comment.model.js';
import { Heart, type HeartTarget } from './hearts/heart.model.js';

/** A member's heart, and when it was given. */
export interface RestoredHeart {
  memberNo: number;
  at: Date;
}

/** A comment or reply under the number it is known by. */
export interface RestoredComment {
  id: number;
  /** The comment a reply answers; 0 for a comment on the article itself. */
  parentId: number;
  authorNo: number;
  context: string;
  publishedAt: Date;
  hearts: RestoredHeart[];
}

/** An article under the number it is known by, with what hangs on it. */
export interface RestoredArticle extends ArticleDraft {
  id: number;
  authorNo: number;
  views: number;
  publishedAt: Date;
  comments: RestoredComment[];
  hearts: RestoredHeart[];
}

type Write = Parameters<typeof Article.bulkWrite>[0][number];

/** Stores a record unless one of its identity is there. */
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
 * Stores articles, comments and hearts of a known past, with their numbers, times and views. What is
 * there already stays as it is, so an interrupted call may be repeated; nobody is notified.
 *
 * What is counted is stored before what holds the count, so a stored count is right from its first
 * moment: nobody can give a heart to an article that is not there yet.
 *
 * @param articles few enough for memory; numbers rise with time, for articles and for comments
 */
export async function restoreArticles(articles: RestoredArticle[]): Promise<void> {
  const comments = articles.flatMap((article) => article.comments);
  // Taken from the sequences before they are used: nobody who writes meanwhile gets the same number.
  await Promise.all([
    reserveNumber('article', Math.max(0, ...articles.map(({ id }) => id))),
    reserveNumber('comment', Math.max(0, ...comments.map(({ id }) => id))),
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
}
