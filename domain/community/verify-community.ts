import { settled } from '../kernel/settle.js';
import { type Check, type Checked, type Finding, PROGRESS_STEP } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/mongo/sequence.model.js';
import { Article } from './article.model.js';
import { Bookmark } from './bookmark.model.js';
import { Comment } from './comment.model.js';
import { type Counters, type CountName, createCounters } from './counters.js';
import { finishArticleDeletion } from './delete-article.js';
import { Heart } from './heart.model.js';

/**
 * Age, ms, from which hearts and bookmarks of a deleted article count as left behind: a bookmark is stored before its
 * article is checked again.
 */
const LEFT_BEHIND_MS = 60_000;

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

/** What is wrong with an article or comment. */
type Kind = CountName | 'article-deletion';

const SUBJECTS: Record<Kind, string> = {
  'article-hearts': 'article NO hearts',
  'article-comments': 'article NO comments',
  'article-deletion': 'article NO deletion',
  'comment-hearts': 'comment NO hearts',
  'comment-state': 'comment NO state',
};

/** A stored value that contradicts its records. */
interface Contradiction extends Pick<Finding, 'found' | 'expected' | 'text'> {
  kind: Kind;
  no: number;
  /** With the count's version, which every change raises. */
  proof: string;
}

/** By subject, such as `article 7 hearts`. */
type Contradictions = Map<string, Contradiction>;

function add(
  all: Contradictions,
  kind: Kind,
  no: number,
  [found, expected]: [number | string, number | string],
  version: number,
  says = `${found}, but its records say ${expected}`,
): void {
  if (found === expected) return;
  const subject = SUBJECTS[kind].replace('NO', String(no));
  const text = `${subject}: ${says}`;
  all.set(subject, { kind, no, found, expected, text, proof: `${text}, version ${version}` });
}

/**
 * Without what a mark explains: a change whose count is still to come, from this process, another one or a sweep.
 * Marks are read after the records, so a change that was counted and is finished since has raised the version.
 */
async function withoutUnfinished(found: Contradictions): Promise<Contradictions> {
  if (found.size === 0) return found;
  const pending = { $exists: true };
  const isUnfinished: Record<Kind, (no: number) => Promise<unknown>> = {
    'article-hearts': (id) => Heart.exists({ target: 'article', id, pending }),
    'article-comments': (articleId) => Comment.exists({ articleId, pending }),
    'article-deletion': (_id) => Article.exists({ _id, pending }),
    'comment-hearts': async (id) =>
      (await Heart.exists({ target: 'comment', id, pending })) ?? Comment.exists({ _id: id, pending }),
    'comment-state': (id) => Comment.exists({ $or: [{ _id: id }, { parentId: id }], pending }),
  };
  const left: Contradictions = new Map();
  for (const [subject, contradiction] of found) {
    if (!(await isUnfinished[contradiction.kind](contradiction.no))) left.set(subject, contradiction);
  }
  return left;
}

async function checkArticles(ids: number[]): Promise<Contradictions> {
  const fields = { state: 1, hearts: 1, comments: 1, heartsVersion: 1, commentsVersion: 1 };
  const articles = await Article.find({ _id: { $in: ids } }, fields)
    .sort({ _id: 1 })
    .lean();
  const deleted = articles.filter(({ state }) => state === 'deleted').map(({ _id }) => _id);
  const old = { at: { $lt: new Date(Date.now() - LEFT_BEHIND_MS) } };
  const [hearts, comments, heartsLeft, bookmarksLeft] = await Promise.all([
    countBy(Heart, 'id', ids, { target: 'article', on: true }),
    countBy(Comment, 'articleId', ids, { state: 'live' }),
    countBy(Heart, 'articleId', deleted, old),
    countBy(Bookmark, 'articleId', deleted, old),
  ]);
  const found: Contradictions = new Map();
  for (const { _id, state, ...stored } of articles) {
    if (state === 'deleted') {
      const count = (heartsLeft.get(_id) ?? 0) + (bookmarksLeft.get(_id) ?? 0);
      const says = `it was deleted, but ${count} hearts and bookmarks remain`;
      add(found, 'article-deletion', _id, [count, 0], stored.heartsVersion, says);
      continue;
    }
    add(found, 'article-hearts', _id, [stored.hearts, hearts.get(_id) ?? 0], stored.heartsVersion);
    add(found, 'article-comments', _id, [stored.comments, comments.get(_id) ?? 0], stored.commentsVersion);
  }
  return withoutUnfinished(found);
}

async function checkComments(ids: number[]): Promise<Contradictions> {
  const fields = { articleId: 1, state: 1, hearts: 1, heartsVersion: 1, repliesVersion: 1 };
  const comments = await Comment.find({ _id: { $in: ids } }, fields)
    .sort({ _id: 1 })
    .lean();
  const [hearts, replies] = await Promise.all([
    countBy(Heart, 'id', ids, { target: 'comment', on: true }),
    countBy(Comment, 'parentId', ids, { state: 'live' }),
  ]);
  // Read last: a deletion flags its article before it removes hearts.
  const live = { _id: { $in: comments.map(({ articleId }) => articleId) }, state: 'live' } as const;
  const liveArticles = new Set((await Article.find(live, { _id: 1 }).lean()).map(({ _id }) => _id));
  const found: Contradictions = new Map();
  for (const { _id, articleId, state, ...stored } of comments) {
    // A deleted article's comments are not shown.
    if (!liveArticles.has(articleId)) continue;
    if (state === 'live')
      add(found, 'comment-hearts', _id, [stored.hearts, hearts.get(_id) ?? 0], stored.heartsVersion);
    else
      add(found, 'comment-state', _id, [state, replies.get(_id) ? 'flagged' : 'gone'], stored.repliesVersion);
  }
  return withoutUnfinished(found);
}

/** Repairs the stored value, as a change of its records would. */
async function repairStored(counters: Counters, kind: Kind, no: number): Promise<void> {
  if (kind === 'article-deletion') await finishArticleDeletion(no);
  else if (kind === 'article-comments') await counters.articleComments(no);
  else if (kind === 'comment-state') await counters.repliesOfDeleted(no);
  else if (kind === 'article-hearts') await counters.articleHearts(no);
  else await counters.commentHearts(no);
}

/** Checks all articles or comments page by page. @param model only the numbers of its records are read */
function checkPages(model: typeof Article, check: (ids: number[]) => Promise<Contradictions>): Check {
  const counters = createCounters();
  return {
    size: () => model.estimatedDocumentCount(),
    async *run(checked: Checked): AsyncGenerator<Finding> {
      for (let after = 0; ; ) {
        const page = await model
          .find({ _id: { $gt: after } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(PROGRESS_STEP)
          .lean();
        const last = page.at(-1);
        if (!last) return;
        const found = await check(page.map(({ _id }) => _id));
        const numbersOf = (subjects: string[]) => subjects.map((subject) => found.get(subject)?.no as number);
        const persistent = await settled(found, (subjects) => check([...new Set(numbersOf(subjects))]));
        for (const { kind, no, proof, ...rest } of persistent.values()) {
          const record = `${kind.split('-')[0]} ${no}`;
          yield { area: 'community', kind, record, ...rest, repair: () => repairStored(counters, kind, no) };
        }
        after = last._id;
        await checked(page.length);
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
    checkSequence('community', 'article', () => highestNumber(Article)),
    checkSequence('community', 'comment', () => highestNumber(Comment)),
  ];
}
