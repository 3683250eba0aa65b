import { randomUUID } from 'node:crypto';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart, type HeartTarget } from '../../domain/community/heart.model.js';
import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import { DRAFT } from '../support/community.js';
import { useCase } from './use-case.js';

/** A member with a name of their own. */
export const someone = (domain: Domain): Promise<Actor> =>
  domain.members.record({ email: `${randomUUID()}@example.org`, nickname: 'Minji', issuedAt: 0 });

let pair: Promise<[Actor, Actor]> | undefined;

/** Two members, the same in all rows that do not change them. */
export function twoMembers(domain: Domain): Promise<[Actor, Actor]> {
  pair ??= Promise.all([someone(domain), someone(domain)]);
  return pair;
}

/** An article and who wrote it, another member, and comments on it. */
interface Board {
  author: Actor;
  other: Actor;
  no: number;
  /** By the author. */
  comment: number;
  reply: number;
}

/** @param comments whether there is a comment by the author, and a reply to it by the other member */
async function board(domain: Domain, comments: 'none' | 'comment' | 'reply' = 'none'): Promise<Board> {
  const [author, other] = await twoMembers(domain);
  const no = await domain.community.createArticle(author, DRAFT);
  const write = (by: Actor, parentId: number) =>
    domain.community.createComment(by, { articleId: no, parentId, context: 'Hi' });
  const comment = comments === 'none' ? 0 : await write(author, 0);
  const reply = comments === 'reply' ? await write(other, comment) : 0;
  return { author, other, no, comment, reply };
}

/** How often each of these causes has notified a member. */
export async function timesNotified(memberNo: number, ...causes: string[]): Promise<number[]> {
  return Promise.all(causes.map((cause) => Notification.countDocuments({ memberNo, cause })));
}

/** A new comment may be stored once more by its retry: each is notified of once, and every acked one is stored. */
async function storedComments({ author, no }: Board, parentId: number, acked: number[]) {
  const comments = await Comment.find({ articleId: no, parentId, context: 'New' }).lean();
  const ids = comments.map(({ _id }) => _id);
  return {
    isStored: ids.length > 0,
    lost: acked.filter((id) => !ids.includes(id)),
    notified: [...new Set(await timesNotified(author.no, ...ids.map((id) => `comment:${id}`)))],
    pending: comments.filter(({ pending }) => pending).length,
  };
}

/**
 * What is told of an insert that was made twice: the number might be another record's, so it is not taken for stored.
 * The driver repeats only writes that the server recognises (packages/embedded-mongo/README.md: none on a standalone server).
 */
const DOUBLED = ['INTERNAL_ERROR'] as const;

const COMMENT_STORED = { isStored: true, lost: [], notified: [1], pending: 0 };

const heartsOf = (target: HeartTarget, id: number) => Heart.find({ target, id }).lean();

async function heartState(target: HeartTarget, id: number) {
  const hearts = await heartsOf(target, id);
  const record = target === 'article' ? await Article.findById(id).lean() : await Comment.findById(id).lean();
  return {
    count: record?.hearts,
    on: hearts.map(({ on }) => on),
    pending: hearts.filter((h) => h.pending).length,
  };
}

/** Giving, and taking away, a heart of an article or of a comment. */
const heartRows = (['article', 'comment'] as const).flatMap((target) => {
  const idOf = ({ no, comment }: Board) => (target === 'article' ? no : comment);
  return [
    useCase<Board, number>({
      name: 'community.giveHeart',
      what: `to ${target === 'article' ? 'an article, which then leads both windows' : 'a comment'}`,
      prepare: (domain) => board(domain, 'comment'),
      act: (domain, records) => domain.community.giveHeart(records.other, target, idOf(records)),
      told: ['ALREADY_HEARTED'],
      async stored(records) {
        const { no, author } = records;
        const notified = await timesNotified(author.no, `documentHot:${no}`, `documentWeek:${no}`);
        return { ...(await heartState(target, idOf(records))), notified };
      },
      expected: { count: 1, on: [true], pending: 0, notified: target === 'article' ? [1, 1] : [0, 0] },
    }),
    useCase<Board, number>({
      name: 'community.removeHeart',
      what: `from ${target === 'article' ? 'an article' : 'a comment'}`,
      async prepare(domain) {
        const records = await board(domain, 'comment');
        await domain.community.giveHeart(records.other, target, idOf(records));
        return records;
      },
      act: (domain, records) => domain.community.removeHeart(records.other, target, idOf(records)),
      told: ['HEART_NOT_FOUND'],
      stored: (records) => heartState(target, idOf(records)),
      expected: { count: 0, on: [], pending: 0 },
    }),
  ];
});

export const communityRows = [
  useCase<Board & { title: string }, number>({
    name: 'community.createArticle',
    what: '',
    prepare: async (domain) => ({ ...(await board(domain)), title: randomUUID() }),
    act: (domain, { author, title }) => domain.community.createArticle(author, { ...DRAFT, title }),
    told: [...DOUBLED],
    async stored({ no, title }, acked) {
      const articles = await Article.find({ _id: { $gt: no }, title }).lean();
      return {
        isStored: articles.length > 0,
        lost: acked.filter((no) => !articles.some(({ _id }) => _id === no)),
      };
    },
    expected: { isStored: true, lost: [] },
  }),
  useCase<Board, unknown>({
    name: 'community.readArticle',
    what: 'and counting the view',
    prepare: (domain) => board(domain),
    act: (domain, { other, no }) => domain.community.readArticle(other, no),
    stored: async ({ no }, acked) => ((await Article.findById(no).lean())?.views ?? 0) >= acked.length,
    expected: true,
  }),
  useCase<Board, void>({
    name: 'community.editArticle',
    what: '',
    prepare: (domain) => board(domain),
    act: (domain, { author, no }) => domain.community.editArticle(author, no, { title: 'Edited' }),
    stored: async ({ no }) => (await Article.findById(no).lean())?.title,
    expected: 'Edited',
  }),
  useCase<Board, void>({
    name: 'community.deleteArticle',
    what: 'with comments, hearts and bookmarks',
    async prepare(domain) {
      const records = await board(domain, 'reply');
      const { other, no, comment } = records;
      await domain.community.giveHeart(other, 'article', no);
      await domain.community.giveHeart(other, 'comment', comment);
      await domain.community.addBookmark(other, no);
      return records;
    },
    act: (domain, { author, no }) => domain.community.deleteArticle(author, no),
    told: ['ARTICLE_NOT_FOUND'],
    async stored({ no }) {
      const article = await Article.findById(no).lean();
      const left = await Promise.all([
        Heart.countDocuments({ articleId: no }),
        Bookmark.countDocuments({ articleId: no }),
      ]);
      return [article?.state, article?.pending, ...left];
    },
    expected: ['deleted', undefined, 0, 0],
  }),
  useCase<Board, void>({
    name: 'community.addBookmark',
    what: '',
    prepare: (domain) => board(domain),
    act: (domain, { other, no }) => domain.community.addBookmark(other, no),
    told: ['ALREADY_BOOKMARKED'],
    stored: ({ no }) => Bookmark.countDocuments({ articleId: no }),
    expected: 1,
  }),
  useCase<Board, void>({
    name: 'community.removeBookmark',
    what: '',
    async prepare(domain) {
      const records = await board(domain);
      await domain.community.addBookmark(records.other, records.no);
      return records;
    },
    act: (domain, { other, no }) => domain.community.removeBookmark(other, no),
    told: ['BOOKMARK_NOT_FOUND'],
    stored: ({ no }) => Bookmark.countDocuments({ articleId: no }),
    expected: 0,
  }),
  useCase<Board, number>({
    name: 'community.createComment',
    what: 'on an article',
    prepare: (domain) => board(domain),
    act: (domain, { other, no }) =>
      domain.community.createComment(other, { articleId: no, parentId: 0, context: 'New' }),
    told: [...DOUBLED],
    stored: (records, acked) => storedComments(records, 0, acked),
    expected: COMMENT_STORED,
  }),
  useCase<Board, number>({
    name: 'community.createComment',
    what: 'as a reply',
    prepare: (domain) => board(domain, 'comment'),
    act: (domain, { other, no, comment }) =>
      domain.community.createComment(other, { articleId: no, parentId: comment, context: 'New' }),
    told: [...DOUBLED],
    stored: (records, acked) => storedComments(records, records.comment, acked),
    expected: COMMENT_STORED,
  }),
  useCase<Board, void>({
    name: 'community.editComment',
    what: '',
    prepare: (domain) => board(domain, 'comment'),
    act: (domain, { author, comment }) => domain.community.editComment(author, comment, 'Edited'),
    stored: async ({ comment }) => (await Comment.findById(comment).lean())?.context,
    expected: 'Edited',
  }),
  ...(['comment', 'reply'] as const).map((comments) =>
    useCase<Board, void>({
      name: 'community.deleteComment',
      what: comments === 'reply' ? 'with a reply' : 'with a heart, without replies',
      async prepare(domain) {
        const records = await board(domain, comments);
        await domain.community.giveHeart(records.other, 'comment', records.comment);
        return records;
      },
      act: (domain, { author, comment }) => domain.community.deleteComment(author, comment),
      told: ['COMMENT_NOT_FOUND'],
      async stored({ comment }) {
        const record = await Comment.findById(comment).lean();
        return [record?.state, record?.context, record?.pending, (await heartsOf('comment', comment)).length];
      },
      expected: [comments === 'reply' ? 'flagged' : 'gone', '', undefined, 0],
    }),
  ),
  useCase<Board, void>({
    name: 'community.deleteComment',
    what: 'of the last reply to a deleted comment',
    async prepare(domain) {
      const records = await board(domain, 'reply');
      await domain.community.deleteComment(records.author, records.comment);
      return records;
    },
    act: (domain, { other, reply }) => domain.community.deleteComment(other, reply),
    told: ['COMMENT_NOT_FOUND'],
    stored: async ({ comment, reply }) =>
      (await Comment.find({ _id: { $in: [comment, reply] } }).lean()).map(({ state }) => state),
    expected: ['gone', 'gone'],
  }),
  ...heartRows,
];
