import { Article } from './article.model.js';
import { Comment } from './comment.model.js';
import { Heart } from './heart.model.js';
import { createRecount, type StoredCount } from './recount.js';

/** The stored counts, as metrics name them. */
export type CountName = 'article-hearts' | 'article-comments' | 'comment-hearts' | 'comment-state';

/**
 * The area's stored counts: each function updates one and returns it, undefined if the record is not live.
 * @param onDifference called for each stored count that was another
 */
export function createCounters(onDifference?: (name: CountName) => void) {
  const recount = (name: CountName, stored: StoredCount) => createRecount(stored, () => onDifference?.(name));
  const live = { filter: { state: 'live' } };
  const hearts = { version: 'heartsVersion', fields: (count: number) => ({ hearts: count }) } as const;
  return {
    articleHearts: recount('article-hearts', {
      model: Article,
      ...live,
      ...hearts,
      count: (id) => Heart.countDocuments({ target: 'article', id, on: true }),
    }),

    /** Live comments and replies of an article. */
    articleComments: recount('article-comments', {
      model: Article,
      ...live,
      version: 'commentsVersion',
      count: (articleId) => Comment.countDocuments({ articleId, state: 'live' }),
      fields: (comments) => ({ comments }),
    }),

    commentHearts: recount('comment-hearts', {
      model: Comment,
      ...live,
      // Deleting the article flags it and then raises all versions, so it is noticed here or by storing.
      isCounted: async (articleId) => !!(await Article.exists({ _id: articleId, state: 'live' })),
      ...hearts,
      count: (id) => Heart.countDocuments({ target: 'comment', id, on: true }),
    }),

    /** Live replies of a deleted comment, which is flagged while it has some, else gone; undefined for a live one. */
    repliesOfDeleted: recount('comment-state', {
      model: Comment,
      filter: { state: { $ne: 'live' } },
      version: 'repliesVersion',
      count: (parentId) => Comment.countDocuments({ parentId, state: 'live' }),
      fields: (replies) => ({ state: replies > 0 ? 'flagged' : 'gone' }),
    }),
  };
}

export type Counters = ReturnType<typeof createCounters>;
