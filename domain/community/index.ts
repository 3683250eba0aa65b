import type { Actor } from '../kernel/actor.js';
import { addBookmark } from './add-bookmark.js';
import type { ArticleDetail } from './article.presenter.js';
import type { CommentView } from './comment.presenter.js';
import type { CommunityDeps } from './community-deps.js';
import { createCounters } from './counters.js';
import { type ArticleDraft, createArticle } from './create-article.js';
import { type CommentDraft, createComment } from './create-comment.js';
import { deleteArticle } from './delete-article.js';
import { deleteComment } from './delete-comment.js';
import { type ArticleChanges, editArticle } from './edit-article.js';
import { editComment } from './edit-comment.js';
import { giveHeart } from './give-heart.js';
import type { HeartTarget } from './heart.model.js';
import { type ArticleList, type ArticleQuery, listArticles } from './list-articles.js';
import { listComments } from './list-comments.js';
import { readArticle } from './read-article.js';
import { removeBookmark } from './remove-bookmark.js';
import { type RestoredArticle, restoreArticles } from './restore.js';
import { createSweep } from './sweep.js';
import { takeHeart } from './take-heart.js';
import { Trending } from './trending.js';

export type { ArticleDetail, ArticleSummary } from './article.presenter.js';
export type { CommentView, ReplyView } from './comment.presenter.js';
export type { ArticleDraft } from './create-article.js';
export type { CommentDraft } from './create-comment.js';
export type { ArticleChanges } from './edit-article.js';
export type { HeartTarget } from './heart.model.js';
export type { ArticleList, ArticleQuery } from './list-articles.js';
export type { RestoredArticle, RestoredComment, RestoredHeart } from './restore.js';
export { checkCommunity } from './verify-community.js';

/**
 * The community board: articles, comments, hearts and bookmarks. (contract, section 3)
 * Errors are AppErrors of the codes named; `reader` is the caller, if known.
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
  /** Stores articles with their numbers, times, comments and hearts; repeating it changes nothing. */
  restoreArticles(articles: RestoredArticle[]): Promise<void>;
  /**
   * Finishes what a crash left unfinished; may run at any time and on every process.
   * @param signal stops it after the current record
   */
  sweep(signal?: AbortSignal): Promise<void>;
}

/** Binds the use cases to their dependencies; needs a connected database. */
export function createCommunity(base: Omit<CommunityDeps, 'counters' | 'trending'>): Community {
  const deps: CommunityDeps = {
    ...base,
    counters: createCounters(),
    trending: new Trending(base.clock, base.events),
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
