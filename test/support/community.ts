import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart } from '../../domain/community/heart.model.js';
import { type Community, createCommunity } from '../../domain/community/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { AppError } from '../../domain/kernel/errors.js';
import { createEventBus, type DomainEvents } from '../../domain/kernel/events.js';
import { createLocalDateTime } from '../../domain/kernel/local-date-time.js';
import { createTurns } from '../../domain/platform/async/turns.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { unlimitedQuotas } from '../../domain/platform/rate-limits/index.js';
import { service } from './service.js';

/** A community area with its own clock, events and caches, on the database of the service in this process. */
export interface Board {
  community: Community;
  clock: { now(): number; advance(ms: number): void };
  commentsAnnounced: DomainEvents['comment.created'][];
  leadersAnnounced: DomainEvents['article.leading'][];
  /** Whether listeners to the board's events fail: all of them, or those to the leaders of one window. */
  listenersFail: boolean | 'hot' | 'weekly';
  member(nickname: string): Promise<Actor>;
  /** A new article by a new member, or the given one. */
  article(author?: Actor): Promise<{ no: number; author: Actor }>;
  /** A new comment or reply of a member. @returns its number */
  comment(author: Actor, articleId: number, parentId?: number): Promise<number>;
}

/** An article as `createArticle` takes it. */
export const DRAFT = { categoryId: 1, title: 'A title', context: 'A text', imageList: [], thumbnail: '' };

/** The models of the community's records. */
export const COMMUNITY_MODELS = [Article, Bookmark, Comment, Heart];

export async function buildBoard(startsAt = Date.now(), quotas = unlimitedQuotas): Promise<Board> {
  const { domain } = await service();
  const events = createEventBus();
  let now = startsAt;
  const clock = {
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
  const community = createCommunity({
    clock,
    events,
    directory: domain.members.directory,
    localTime: createLocalDateTime('Asia/Seoul'),
    logger: createLogger('silent', 'test'),
    quotas,
    maxComments: 1_000,
    searches: createTurns(2, 8),
  });
  const board: Board = {
    community,
    clock,
    commentsAnnounced: [],
    leadersAnnounced: [],
    listenersFail: false,
    member: (nickname) =>
      domain.members.record({ email: `${randomUUID()}@example.org`, nickname, issuedAt: 0 }),
    async article(author) {
      const by = author ?? (await board.member('Author'));
      return { no: await community.createArticle(by, DRAFT), author: by };
    },
    comment: (by, articleId, parentId = 0) =>
      community.createComment(by, { articleId, parentId, context: 'Hi' }),
  };
  events.on('comment.created', async (event) => {
    if (board.listenersFail === true) throw new Error('a listener fails');
    board.commentsAnnounced.push(event);
  });
  events.on('article.leading', async (event) => {
    if (board.listenersFail === true || board.listenersFail === event.window)
      throw new Error('a listener fails');
    board.leadersAnnounced.push(event);
  });
  return board;
}

/** The code of the AppError that a call rejects with, or `ok`. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** The counters and states of an article match its records, and nothing is pending. */
export async function expectConsistent(articleId: number): Promise<void> {
  const [article, comments, hearts, bookmarks] = await Promise.all([
    Article.findById(articleId).lean(),
    Comment.find({ articleId }).lean(),
    Heart.find({ $or: [{ articleId }, { target: 'article', id: articleId }] }).lean(),
    Bookmark.countDocuments({ articleId }),
  ]);
  if (!article) throw new Error(`there is no article ${articleId}`);
  expect([article, ...comments, ...hearts].filter(({ pending }) => pending)).to.deep.equal([]);
  expect(hearts.filter(({ on }) => !on)).to.deep.equal([]);
  if (article.state === 'deleted') expect([hearts.length, bookmarks]).to.deep.equal([0, 0]);
  const heartsOf = (target: string, no: number) =>
    hearts.filter((heart) => heart.target === target && heart.id === no).length;
  expect(article.hearts, 'hearts').to.equal(heartsOf('article', articleId));
  for (const { _id, state, context, hearts: stored } of comments) {
    expect(stored, `hearts of comment ${_id}`).to.equal(heartsOf('comment', _id));
    if (state !== 'live') expect(context).to.equal('');
  }
  // The comments of a deleted article are neither shown nor counted.
  if (article.state === 'deleted') return;
  const live = comments.filter(({ state }) => state === 'live');
  expect(article.comments, 'comments').to.equal(live.length);
  for (const { _id, state } of comments) {
    if (state === 'live') continue;
    const replies = live.some(({ parentId }) => parentId === _id);
    expect(state, `state of comment ${_id}`).to.equal(replies ? 'flagged' : 'gone');
  }
}
