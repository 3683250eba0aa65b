import { Article } from './article.model.js';
import { Comment } from './comment.model.js';
import { Heart } from './heart.model.js';
import { createRecount } from './recount.js';

/** The area's stored counts: each function updates one and returns it, undefined if the record is not live. */
export function createCounters() {
  return {
    articleHearts: createRecount({
      async readVersion(_id) {
        const article = await Article.findOne({ _id, state: 'live' }, { heartsVersion: 1 }).lean();
        return article?.heartsVersion;
      },
      count: (id) => Heart.countDocuments({ target: 'article', id, on: true }),
      async store(_id, version, hearts) {
        const { matchedCount } = await Article.updateOne(
          { _id, heartsVersion: version },
          { $set: { hearts, heartsVersion: version + 1 } },
        );
        return matchedCount === 1;
      },
    }),

    /** Live comments and replies of an article. */
    articleComments: createRecount({
      async readVersion(_id) {
        const article = await Article.findOne({ _id, state: 'live' }, { commentsVersion: 1 }).lean();
        return article?.commentsVersion;
      },
      count: (articleId) => Comment.countDocuments({ articleId, state: 'live' }),
      async store(_id, version, comments) {
        const { matchedCount } = await Article.updateOne(
          { _id, commentsVersion: version },
          { $set: { comments, commentsVersion: version + 1 } },
        );
        return matchedCount === 1;
      },
    }),

    commentHearts: createRecount({
      async readVersion(_id) {
        const comment = await Comment.findOne(
          { _id, state: 'live' },
          { articleId: 1, heartsVersion: 1 },
        ).lean();
        if (!comment) return undefined;
        // Read after the version: deleting the article flags it and then raises all versions, so it is noticed
        // here or by `store`.
        const article = await Article.findOne({ _id: comment.articleId, state: 'live' }, { _id: 1 }).lean();
        return article ? comment.heartsVersion : undefined;
      },
      count: (id) => Heart.countDocuments({ target: 'comment', id, on: true }),
      async store(_id, version, hearts) {
        const { matchedCount } = await Comment.updateOne(
          { _id, heartsVersion: version },
          { $set: { hearts, heartsVersion: version + 1 } },
        );
        return matchedCount === 1;
      },
    }),

    /** Live replies of a deleted comment, which is flagged while it has some, else gone; undefined for a live one. */
    repliesOfDeleted: createRecount({
      async readVersion(_id) {
        const comment = await Comment.findOne({ _id, state: { $ne: 'live' } }, { repliesVersion: 1 }).lean();
        return comment?.repliesVersion;
      },
      count: (parentId) => Comment.countDocuments({ parentId, state: 'live' }),
      async store(_id, version, replies) {
        const { matchedCount } = await Comment.updateOne(
          { _id, repliesVersion: version },
          { $set: { state: replies > 0 ? 'flagged' : 'gone', repliesVersion: version + 1 } },
        );
        return matchedCount === 1;
      },
    }),
  };
}

export type Counters = ReturnType<typeof createCounters>;
