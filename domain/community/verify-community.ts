import { settled } from '../kernel/settle.js';
import type { Check, Finding } from '../kernel/verification.js';
import { checkSequence } from '../platform/sequence.model.js';
import { Article } from './articles/article.model.js';
import { finishArticleDeletion } from './articles/delete-article.js';
import { Bookmark } from './bookmarks/bookmark.model.js';
import { Comment } from './comments/comment.model.js';
import { type Counters, createCounters } from './counters.js';
import { Heart, type HeartTarget } from './hearts/heart.model.js';

/** Records looked at together. */
const PAGE = 500;

type Count = { _id: number; count: number };

function byId(counts: Count[]): Map<number, number> {
  return new Map(counts.map(({ _id, count }) => [_id, count]));
}

async function countHearts(target: HeartTarget, ids: number[]): Promise<Map<number, number>> {
  return byId(
    await Heart.aggregate<Count>([
      { $match: { target, id: { $in: ids }, on: true } },
      { $group: { _id: '$id', count: { $sum: 1 } } },
    ]),
  );
}

async function countLiveComments(by: 'articleId' | 'parentId', ids: number[]): Promise<Map<number, number>> {
  return byId(
    await Comment.aggregate<Count>([
      { $match: { [by]: { $in: ids }, state: 'live' } },
      { $group: { _id: `$${by}`, count: { $sum: 1 } } },
    ]),
  );
}

/** What is left of deleted articles: hearts and bookmarks, by article. */
async function countLeftovers(ids: number[]): Promise<Map<number, number>> {
  const group = [
    { $match: { articleId: { $in: ids } } },
    { $group: { _id: '$articleId', count: { $sum: 1 } } },
  ];
  const counts = byId(await Heart.aggregate<Count>(group));
  for (const { _id, count } of await Bookmark.aggregate<Count>(group)) {
    counts.set(_id, (counts.get(_id) ?? 0) + count);
  }
  return counts;
}

/** What a stored value says and what its records say; in one text, by what it is about. */
type Disagreements = Map<string, string>;

function note(found: Disagreements, about: string, says: unknown, records: unknown): void {
  if (says !== records) found.set(about, `${about}: ${says}, but its records say ${records}`);
}

/** Names of what is about an article: `article 7 hearts`. */
async function lookAtArticles(ids: number[]): Promise<Disagreements> {
  const articles = await Article.find({ _id: { $in: ids } }, { state: 1, hearts: 1, comments: 1 })
    .sort({ _id: 1 })
    .lean();
  const [hearts, comments, left] = await Promise.all([
    countHearts('article', ids),
    countLiveComments('articleId', ids),
    countLeftovers(articles.filter(({ state }) => state === 'deleted').map(({ _id }) => _id)),
  ]);
  const found: Disagreements = new Map();
  for (const article of articles) {
    const { _id } = article;
    if (article.state === 'deleted') {
      const count = left.get(_id) ?? 0;
      const about = `article ${_id} deletion`;
      if (count > 0) found.set(about, `${about}: it was deleted, but ${count} hearts and bookmarks remain`);
      continue;
    }
    note(found, `article ${_id} hearts`, article.hearts, hearts.get(_id) ?? 0);
    note(found, `article ${_id} comments`, article.comments, comments.get(_id) ?? 0);
  }
  return found;
}

async function lookAtComments(ids: number[]): Promise<Disagreements> {
  const comments = await Comment.find({ _id: { $in: ids } }, { articleId: 1, state: 1, hearts: 1 })
    .sort({ _id: 1 })
    .lean();
  const [hearts, replies, articles] = await Promise.all([
    countHearts('comment', ids),
    countLiveComments('parentId', ids),
    Article.find(
      { _id: { $in: comments.map(({ articleId }) => articleId) }, state: 'live' },
      { _id: 1 },
    ).lean(),
  ]);
  const liveArticles = new Set(articles.map(({ _id }) => _id));
  const found: Disagreements = new Map();
  for (const { _id, articleId, state, hearts: stored } of comments) {
    // A deleted article's comments are shown nowhere.
    if (!liveArticles.has(articleId)) continue;
    if (state === 'live') note(found, `comment ${_id} hearts`, stored, hearts.get(_id) ?? 0);
    else note(found, `comment ${_id} state`, state, replies.get(_id) ? 'flagged' : 'gone');
  }
  return found;
}

/** What mends a disagreement of this name. */
async function mend(counters: Counters, about: string): Promise<void> {
  const [kind, id, what] = about.split(' ');
  const no = Number(id);
  if (what === 'deletion') await finishArticleDeletion(no);
  else if (what === 'comments') await counters.articleComments(no);
  else if (what === 'state') await counters.repliesOfDeleted(no);
  else if (kind === 'article') await counters.articleHearts(no);
  else await counters.commentHearts(no);
}

/** Articles or comments: their numbers alone are asked for. */
type Numbered = typeof Article;

/** Goes through all records of a kind in pages. */
function checkPages(model: Numbered, look: (ids: number[]) => Promise<Disagreements>): Check {
  const counters = createCounters();
  const numberOf = (about: string) => Number(about.split(' ')[1]);
  return {
    size: () => model.countDocuments({}),
    async *run(looked): AsyncGenerator<Finding> {
      for (let after = 0; ; ) {
        const page = await model
          .find({ _id: { $gt: after } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(PAGE)
          .lean();
        const last = page.at(-1);
        if (!last) return;
        const found = await look(page.map(({ _id }) => _id));
        const standing = await settled(found, (about) => look([...new Set(about.map(numberOf))]));
        for (const [about, text] of standing) yield { text, mend: () => mend(counters, about) };
        after = last._id;
        looked(page.length);
      }
    },
  };
}

/**
 * The checks of this area: heart and comment counts, the state of deleted comments, what hangs on
 * deleted articles, and the sequences of numbers.
 */
export function checkCommunity(): Check[] {
  const highest = async (model: Numbered) => {
    const last = await model.findOne({}).sort({ _id: -1 }).lean();
    return last?._id ?? 0;
  };
  const comments = Comment as unknown as Numbered;
  return [
    checkPages(Article, lookAtArticles),
    checkPages(comments, lookAtComments),
    checkSequence('article', () => highest(Article)),
    checkSequence('comment', () => highest(comments)),
  ];
}
