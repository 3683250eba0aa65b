import { metrics } from '../platform/observe/metrics.js';
import { addBookmark } from './add-bookmark.js';
import type { CommunityDeps } from './community-deps.js';
import { createCounters } from './counters.js';
import { createArticle } from './create-article.js';
import { createComment } from './create-comment.js';
import { deleteArticle } from './delete-article.js';
import { deleteComment } from './delete-comment.js';
import { editArticle } from './edit-article.js';
import { editComment } from './edit-comment.js';
import { giveHeart } from './give-heart.js';
import { listArticles } from './list-articles.js';
import { listComments } from './list-comments.js';
import { readArticle } from './read-article.js';
import { removeBookmark } from './remove-bookmark.js';
import { removeHeart } from './remove-heart.js';
import { restoreArticles } from './restore.js';
import { createSweep } from './sweep.js';
import { Trending } from './trending.js';

export type { ArticleDetail } from './article.presenter.js';
export type { CommentView } from './comment.presenter.js';
export type { ArticleList } from './list-articles.js';
export type { RestoredArticle, RestoredHeart } from './restore.js';
export { checkCommunity } from './verify-community.js';

/**
 * The community board: articles, comments, hearts and bookmarks. (contract, section 3)
 * Binds the use cases, which document their arguments and errors, to their dependencies; needs a connected
 * database.
 */
export function createCommunity(base: Omit<CommunityDeps, 'counters' | 'trending'>) {
  const trending = new Trending(base.clock, base.events);
  const deps: CommunityDeps = { ...base, counters: createCounters(), trending };
  const bind =
    <A extends unknown[], R>(useCase: (deps: CommunityDeps, ...args: A) => R) =>
    (...args: A): R =>
      useCase(deps, ...args);
  return {
    createArticle: bind(createArticle),
    readArticle: bind(readArticle),
    listArticles: bind(listArticles),
    editArticle,
    deleteArticle: bind(deleteArticle),
    addBookmark: bind(addBookmark),
    removeBookmark,
    listComments: bind(listComments),
    createComment: bind(createComment),
    editComment,
    deleteComment: bind(deleteComment),
    giveHeart: bind(giveHeart),
    removeHeart: bind(removeHeart),
    restoreArticles: bind(restoreArticles),
    sweep: createSweep({
      ...deps,
      counters: createCounters((what) => metrics.driftMended.inc({ what })),
    }),
  };
}

export type Community = ReturnType<typeof createCommunity>;
