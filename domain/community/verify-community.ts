import { settled } from '../kernel/settle.js';
import type { Check, Finding } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/sequence.model.js';
import { Article } from './article.model.js';
import { Bookmark } from './bookmark.model.js';
import { Comment } from './comment.model.js';
import { type Counters, createCounters } from './counters.js';
import { finishArticleDeletion } from './delete-article.js';
import { Heart } from './heart.model.js';

/** Records per page. */
const PAGE = 500;

/** What is used of a mongoose model. */
interface Countable {
  aggregate<R>(stages: object[]): PromiseLike<R[]>;
}

/** How many of the matching records have each of these numbers in a field. */
async function countBy(
  model: Countable,
  field: string,
  numbers: number[],
  match: object = {},
): Promise<Map<number, number>> {
  const groups = await model.aggregate<{ _id: number; count: number }>([
    { $match: { ...match, [field]: { $in: numbers } } },
    { $group: { _id: `$${field}`, count: { $sum: 1 } } },
  ]);
  return new Map(groups.map(({ _id, count }) => [_id, count]));
}

/** Stored values that contradict their records: a text by subject, such as `article 7 hearts`. */
type Contradictions = Map<string, string>;

function compare(found: Contradictions, subject: string, stored: unknown, counted: unknown): void {
  if (stored !== counted) found.set(subject, `${subject}: ${stored}, but its records say ${counted}`);
}

async function checkArticles(ids: number[]): Promise<Contradictions> {
  const articles = await Article.find({ _id: { $in: ids } }, { state: 1, hearts: 1, comments: 1 })
    .sort({ _id: 1 })
    .lean();
  const deleted = articles.filter(({ state }) => state === 'deleted').map(({ _id }) => _id);
  const [hearts, comments, heartsLeft, bookmarksLeft] = await Promise.all([
    countBy(Heart, 'id', ids, { target: 'article', on: true }),
    countBy(Comment, 'articleId', ids, { state: 'live' }),
    countBy(Heart, 'articleId', deleted),
    countBy(Bookmark, 'articleId', deleted),
  ]);
  const found: Contradictions = new Map();
  for (const article of articles) {
    const { _id } = article;
    if (article.state === 'deleted') {
      const count = (heartsLeft.get(_id) ?? 0) + (bookmarksLeft.get(_id) ?? 0);
      const subject = `article ${_id} deletion`;
      if (count > 0)
        found.set(subject, `${subject}: it was deleted, but ${count} hearts and bookmarks remain`);
      continue;
    }
    compare(found, `article ${_id} hearts`, article.hearts, hearts.get(_id) ?? 0);
    compare(found, `article ${_id} comments`, article.comments, comments.get(_id) ?? 0);
  }
  return found;
}

async function checkComments(ids: number[]): Promise<Contradictions> {
  const comments = await Comment.find({ _id: { $in: ids } }, { articleId: 1, state: 1, hearts: 1 })
    .sort({ _id: 1 })
    .lean();
  const [hearts, replies, articles] = await Promise.all([
    countBy(Heart, 'id', ids, { target: 'comment', on: true }),
    countBy(Comment, 'parentId', ids, { state: 'live' }),
    Article.find(
      { _id: { $in: comments.map(({ articleId }) => articleId) }, state: 'live' },
      { _id: 1 },
    ).lean(),
  ]);
  const liveArticles = new Set(articles.map(({ _id }) => _id));
  const found: Contradictions = new Map();
  for (const { _id, articleId, state, hearts: stored } of comments) {
    // A deleted article's comments are not shown.
    if (!liveArticles.has(articleId)) continue;
    if (state === 'live') compare(found, `comment ${_id} hearts`, stored, hearts.get(_id) ?? 0);
    else compare(found, `comment ${_id} state`, state, replies.get(_id) ? 'flagged' : 'gone');
  }
  return found;
}

/** Repairs the stored value of a subject. */
async function repairSubject(counters: Counters, subject: string): Promise<void> {
  const [kind, id, what] = subject.split(' ');
  const no = Number(id);
  if (what === 'deletion') await finishArticleDeletion(no);
  else if (what === 'comments') await counters.articleComments(no);
  else if (what === 'state') await counters.repliesOfDeleted(no);
  else if (kind === 'article') await counters.articleHearts(no);
  else await counters.commentHearts(no);
}

/** Checks all articles or comments page by page. @param model only the numbers of its records are read */
function checkPages(model: typeof Article, check: (ids: number[]) => Promise<Contradictions>): Check {
  const counters = createCounters();
  const numberOf = (subject: string) => Number(subject.split(' ')[1]);
  return {
    size: () => model.countDocuments({}),
    async *run(checked): AsyncGenerator<Finding> {
      for (let after = 0; ; ) {
        const page = await model
          .find({ _id: { $gt: after } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(PAGE)
          .lean();
        const last = page.at(-1);
        if (!last) return;
        const found = await check(page.map(({ _id }) => _id));
        const persistent = await settled(found, (subjects) => check([...new Set(subjects.map(numberOf))]));
        for (const [subject, text] of persistent)
          yield { text, repair: () => repairSubject(counters, subject) };
        after = last._id;
        checked(page.length);
      }
    },
  };
}

/**
 * The area's checks: heart and comment counts, the state of deleted comments, leftovers of deleted articles,
 * and the sequences.
 */
export function checkCommunity(): Check[] {
  return [
    checkPages(Article, checkArticles),
    checkPages(Comment as unknown as typeof Article, checkComments),
    checkSequence('article', () => highestNumber(Article)),
    checkSequence('comment', () => highestNumber(Comment)),
  ];
}
