import type { Actor } from '../kernel/actor.js';
import type { ArticleDetail } from './articles/article.presenter.js';
import { type ArticleDraft, createArticle } from './articles/create-article.js';
import { deleteArticle } from './articles/delete-article.js';
import { type ArticleChanges, editArticle } from './articles/edit-article.js';
import { type ArticleList, type ArticleQuery, listArticles } from './articles/list-articles.js';
import { readArticle } from './articles/read-article.js';
import { createTrending } from './articles/trending.js';
import { addBookmark } from './bookmarks/add-bookmark.js';
import { removeBookmark } from './bookmarks/remove-bookmark.js';
import type { CommentView } from './comments/comment.presenter.js';
import { type CommentDraft, createComment } from './comments/create-comment.js';
import { deleteComment } from './comments/delete-comment.js';
import { editComment } from './comments/edit-comment.js';
import { listComments } from './comments/list-comments.js';
import type { CommunityDeps } from './community-deps.js';
import { createCounters } from './counters.js';
import { giveHeart } from './hearts/give-heart.js';
import type { HeartTarget } from './hearts/heart.model.js';
import { takeHeart } from './hearts/take-heart.js';
import { type RestoredArticle, restoreArticles } from './restore.js';
import { createSweep } from './sweep.js';

export type { ArticleDetail } from './articles/article.presenter.js';
export type { ArticleDraft } from './articles/create-article.js';
export type { ArticleChanges } from './articles/edit-article.js';
export type { ArticleList, ArticleQuery } from './articles/list-articles.js';
export type { CommentView } from './comments/comment.presenter.js';
export type { CommentDraft } from './comments/create-comment.js';
export type { HeartTarget } from './hearts/heart.model.js';
export type { RestoredArticle, RestoredHeart } from './restore.js';
export { checkCommunity } from './verify-community.js';

/**
 * The community board: articles, comments, hearts and bookmarks. (contract, section 3)
 * Errors are AppErrors of the codes named; `reader` is who asks, where known.
 */
export interface Community {
  /** @returns the article's number */
  createArticle(actor: Actor, draft: ArticleDraft): Promise<number>;
  /** Counts a view. @throws ARTICLE_NOT_FOUND */
  readArticle(reader: Actor | undefined, articleId: number, peek?: boolean): Promise<ArticleDetail>;
  listArticles(query: ArticleQuery): Promise<ArticleList>;
  /** @throws ARTICLE_NOT_FOUND, FORBIDDEN */
  editArticle(actor: Actor, articleId: number, changes: ArticleChanges): Promise<void>;
  /** @throws ARTICLE_NOT_FOUND, FORBIDDEN */
  deleteArticle(actor: Actor, articleId: number): Promise<void>;
  /** @throws ARTICLE_NOT_FOUND, ALREADY_BOOKMARKED */
  addBookmark(actor: Actor, articleId: number): Promise<void>;
  /** @throws ARTICLE_NOT_FOUND, BOOKMARK_NOT_FOUND */
  removeBookmark(actor: Actor, articleId: number): Promise<void>;
  /** @throws ARTICLE_NOT_FOUND */
  listComments(reader: Actor | undefined, articleId: number): Promise<CommentView[]>;
  /** @returns the comment's number @throws ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, INVALID_INPUT */
  createComment(actor: Actor, draft: CommentDraft): Promise<number>;
  /** @throws COMMENT_NOT_FOUND, FORBIDDEN */
  editComment(actor: Actor, commentId: number, context: string): Promise<void>;
  /** @throws COMMENT_NOT_FOUND, FORBIDDEN */
  deleteComment(actor: Actor, commentId: number): Promise<void>;
  /** @returns the target's hearts @throws ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, ALREADY_HEARTED */
  giveHeart(actor: Actor, target: HeartTarget, id: number): Promise<number>;
  /** @returns the target's hearts @throws ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, HEART_NOT_FOUND */
  takeHeart(actor: Actor, target: HeartTarget, id: number): Promise<number>;
  /** Stores articles of a known past, with what hangs on them; repeating it changes nothing. */
  restoreArticles(articles: RestoredArticle[]): Promise<void>;
  /**
   * Finishes what a crash left unfinished; may run at any time and on every process.
   * @param signal ends it behind the record that it is at
   */
  sweep(signal?: AbortSignal): Promise<void>;
}

/** Binds the use cases to what they work with; needs a connected database (platform/mongo). */
export function createCommunity(given: Omit<CommunityDeps, 'counters' | 'trending'>): Community {
  const deps: CommunityDeps = {
    ...given,
    counters: createCounters(),
    trending: createTrending(given.clock, given.events),
  };
  return {
    createArticle: (actor, draft) => createArticle(deps, actor, draft),
    readArticle: (reader, articleId, peek) => readArticle(deps, reader, articleId, peek),
    listArticles: (query) => listArticles(deps, query),
    editArticle,
    deleteArticle: (actor, articleId) => deleteArticle(deps, actor, articleId),
    addBookmark: (actor, articleId) => addBookmark(deps, actor, articleId),
    removeBookmark,
    listComments: (reader, articleId) => listComments(deps, reader, articleId),
    createComment: (actor, draft) => createComment(deps, actor, draft),
    editComment,
    deleteComment: (actor, commentId) => deleteComment(deps, actor, commentId),
    giveHeart: (actor, target, id) => giveHeart(deps, actor, target, id),
    takeHeart: (actor, target, id) => takeHeart(deps, actor, target, id),
    async restoreArticles(articles) {
      await restoreArticles(articles);
      for (const { id } of articles) deps.trending.heartsChanged(id);
    },
    sweep: createSweep(deps),
  };
}
