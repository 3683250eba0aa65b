import { randomUUID } from 'node:crypto';
import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { Message } from '../../domain/chat/message.model.js';
import { Article } from '../../domain/community/article.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart } from '../../domain/community/heart.model.js';
import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { Member } from '../../domain/members/member.model.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import { nextNumbers } from '../../domain/platform/mongo/sequence.model.js';
import { storeMessages } from '../support/chat.js';
import { DRAFT } from '../support/community.js';
import { service } from '../support/service.js';
import { someone, timesNotified, twoMembers } from './community.js';
import { useCase } from './use-case.js';

interface Notice {
  who: Actor;
  id: number;
  cause: string;
}

const noticeTo = ({ no }: Actor, cause: string) => ({
  memberNo: no,
  type: 'announcement' as const,
  content: 'hello',
  url: '/board/1',
  originNo: 0,
  cause,
});

async function notice(domain: Domain): Promise<Notice> {
  const [who, cause] = [await someone(domain), randomUUID()];
  await domain.notifications.notify(noticeTo(who, cause));
  const { _id: id } = (await Notification.findOne({ memberNo: who.no }).lean()) ?? { _id: 0 };
  return { who, id, cause };
}

const notificationRows = [
  useCase<Pick<Notice, 'who' | 'cause'>, boolean>({
    name: 'notifications.notify',
    what: 'as an announcement does',
    prepare: async (domain) => ({ who: await someone(domain), cause: randomUUID() }),
    act: (domain, { who, cause }) => domain.notifications.notify(noticeTo(who, cause)),
    stored: async ({ who }) => (await Notification.find({ memberNo: who.no }).lean()).map(({ n }) => n),
    expected: [1],
  }),
  useCase<Notice, void>({
    name: 'notifications.check',
    what: '',
    prepare: notice,
    act: (domain, { who, id }) => domain.notifications.check(who, id),
    stored: async ({ id }) => (await Notification.findById(id).lean())?.checked,
    expected: true,
  }),
  useCase<Notice, void>({
    name: 'notifications.remove',
    what: '',
    prepare: notice,
    act: (domain, { who, id }) => domain.notifications.remove(who, [id]),
    stored: async ({ id }) => (await Notification.findById(id).lean())?.deleted,
    expected: true,
  }),
];

const facts = (email: string, nickname: string) => ({ email, nickname, issuedAt: 1 });

const newAddress = async () => ({ email: `${randomUUID()}@example.org` });

async function knownAddress(domain: Domain): Promise<{ email: string }> {
  const { email } = await someone(domain);
  return { email };
}

/** What is stored under an address. */
const nicknames = async ({ email }: { email: string }) =>
  (await Member.find({ email }).lean()).map(({ nickname }) => nickname);

const memberRows = (
  [
    ['a new one', newAddress],
    ['one who has a new name', knownAddress],
  ] as const
).flatMap(([what, prepare]) => [
  useCase<{ email: string }, unknown>({
    name: 'members.record',
    what,
    prepare,
    act: (domain, { email }) => domain.members.record(facts(email, 'Bora')),
    stored: nicknames,
    expected: ['Bora'],
  }),
  useCase<{ email: string }, unknown>({
    name: 'members.saveAll',
    what,
    prepare,
    act: (domain, { email }) => domain.members.saveAll([facts(email, 'Bora')]),
    stored: nicknames,
    expected: ['Bora'],
  }),
  useCase<{ email: string }, unknown>({
    name: 'members.authenticate',
    what,
    prepare,
    act: async (domain, { email }) =>
      domain.members.authenticate(await (await service()).token(email, { nickname: 'Bora' })),
    stored: nicknames,
    expected: ['Bora'],
  }),
]);

const POST = { name: 'Bori', age: '2', kind: 'dog', latitude: 37, longitude: 127, thumbnail: '' };

/** A number that no post has. */
const freePost = async () => ({ id: await nextNumbers('adoption'), title: randomUUID() });

const adoptionRows = [
  useCase<{ id: number; title: string }, number>({
    name: 'adoption.savePost',
    what: 'under a number',
    prepare: freePost,
    act: (domain, { id, title }) => domain.adoption.savePost({ ...POST, id, title, authorNo: 1 }),
    stored: async ({ id }) => AdoptionPost.countDocuments({ _id: id, name: 'Bori' }),
    expected: 1,
  }),
  useCase<{ id: number; title: string }, number>({
    name: 'adoption.savePost',
    what: 'under the next number',
    prepare: freePost,
    act: (domain, { title }) => domain.adoption.savePost({ ...POST, title, authorNo: 1 }),
    async stored({ id, title }, acked) {
      const numbers = (await AdoptionPost.find({ _id: { $gt: id }, title }).lean()).map(({ _id }) => _id);
      return [numbers.length > 0, acked.filter((no) => !numbers.includes(no))];
    },
    expected: [true, []],
  }),
  useCase<{ id: number; title: string }, unknown>({
    name: 'adoption.importPosts',
    what: 'with a number, without one, and changed',
    async prepare(domain) {
      const free = await freePost();
      await domain.adoption.importPosts([{ ...POST, title: `${free.title} changed`, authorNo: 1 }]);
      return free;
    },
    act: (domain, { id, title }) =>
      domain.adoption.importPosts([
        { ...POST, id, title, authorNo: 1 },
        { ...POST, title, authorNo: 1 },
        { ...POST, title: `${title} changed`, age: '3', authorNo: 1 },
      ]),
    async stored({ id, title }) {
      const posts = await AdoptionPost.find({
        _id: { $gte: id },
        title: { $in: [title, `${title} changed`] },
      }).lean();
      return posts.map(({ age }) => age).sort();
    },
    expected: ['2', '2', '3'],
  }),
  useCase<{ id: number }, unknown>({
    name: 'adoption.reservePostNumbers',
    what: '',
    prepare: async () => ({ id: (await nextNumbers('adoption')) + 10 }),
    act: (domain, { id }) => domain.adoption.reservePostNumbers(id),
    stored: async ({ id }) => (await nextNumbers('adoption')) > id,
    expected: true,
  }),
];

/** What a killed process leaves: a deleted article, and a comment and hearts whose consequences are unfinished. */
async function unfinished(domain: Domain) {
  const [author, other] = await twoMembers(domain);
  const [no, deleted] = [
    await domain.community.createArticle(author, DRAFT),
    await domain.community.createArticle(author, DRAFT),
  ];
  const [comment, now] = [await nextNumbers('comment'), new Date()];
  const written = {
    articleId: no,
    parentId: 0,
    authorNo: other.no,
    context: 'Hi',
    publishedAt: now,
    hearts: 0,
  };
  await Comment.create({ ...written, _id: comment, state: 'live', pending: now });
  for (const id of [no, deleted]) {
    const heart = {
      target: 'article' as const,
      id,
      articleId: id,
      memberNo: other.no,
      on: true,
      at: now,
      turn: 1,
    };
    await Heart.create({ ...heart, pending: now });
  }
  await Article.updateOne({ _id: deleted }, { $set: { state: 'deleted', pending: now } });
  return { author, no, deleted, comment };
}

/** A message whose recipient was not notified. */
async function unannounced(domain: Domain) {
  const [author, other] = await twoMembers(domain);
  const saleNo = await domain.adoption.savePost({ ...POST, title: 'Bori', authorNo: author.no });
  const chatNo = await domain.chat.createRoom(other, { saleNo, createMember: author.no });
  const [record] = await storeMessages(chatNo, other.no, 1, () => ({ unannounced: true }));
  return { author, messageId: record?._id };
}

const sweepRows = [
  useCase<Awaited<ReturnType<typeof unfinished>>, void>({
    name: 'community.sweep',
    what: '',
    prepare: unfinished,
    act: (domain) => domain.community.sweep(),
    async stored({ author, no, deleted, comment }) {
      const article = await Article.findById(no).lean();
      const marked = { articleId: { $in: [no, deleted] }, pending: { $exists: true } };
      return {
        counts: [article?.hearts, article?.comments],
        left: [
          await Heart.countDocuments({ articleId: deleted }),
          await Heart.countDocuments(marked),
          await Comment.countDocuments(marked),
        ],
        notified: await timesNotified(
          author.no,
          ...[`comment:${comment}`, `documentHot:${no}`, `documentWeek:${no}`, `documentHot:${deleted}`],
        ),
      };
    },
    expected: { counts: [1, 1], left: [0, 0, 0], notified: [1, 1, 1, 0] },
  }),
  useCase<Awaited<ReturnType<typeof unannounced>>, void>({
    name: 'chat.sweep',
    what: '',
    prepare: unannounced,
    act: (domain) => domain.chat.sweep(),
    async stored({ author, messageId }) {
      const notified = await timesNotified(author.no, `message:${messageId}`);
      return [(await Message.findById(messageId).lean())?.unannounced, ...notified];
    },
    expected: [undefined, 1],
  }),
];

const restoreRow = useCase<{ no: number; comment: number; author: Actor }, void>({
  name: 'community.restoreArticles',
  what: 'with a comment and hearts',
  prepare: async (domain) => ({
    author: await someone(domain),
    no: await nextNumbers('article'),
    comment: await nextNumbers('comment'),
  }),
  act(domain, { no, comment, author }) {
    const [at, authorNo] = [new Date(0), author.no];
    const hearts = [{ memberNo: authorNo, at }];
    const answer = { id: comment, parentId: 0, authorNo, context: 'Hi', publishedAt: at, hearts };
    const article = { ...DRAFT, id: no, authorNo, views: 1, publishedAt: at, comments: [answer], hearts };
    return domain.community.restoreArticles([article]);
  },
  async stored({ no, comment }) {
    const article = await Article.findById(no).lean();
    return [article?.hearts, article?.comments, (await Comment.findById(comment).lean())?.hearts];
  },
  expected: [1, 1, 1],
});

export const otherRows = [...notificationRows, ...memberRows, ...adoptionRows, ...sweepRows, restoreRow];
