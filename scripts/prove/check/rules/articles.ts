import type { SeenArticle } from '../../answers/articles.js';
import type { Invoke } from '../../history.js';
import { type ArticleRecord, textOf } from '../facts/articles.js';
import type { Run } from '../facts/run.js';
import { type Answered, type Asked, at, type Rule } from '../rule.js';

/** Shown for an article without images. (contract, section 3) */
const NO_THUMBNAIL = 'NONE';

const isChange = ({ f }: Invoke) => f === 'edit' || f === 'unpublish';

/** The article that a request is about. */
const articleOf = (asked: Invoke): number | undefined => {
  if ('target' in asked) return asked.target === 'article' ? asked.id : undefined;
  return 'article' in asked ? asked.article : undefined;
};

/** @returns what is wrong with an article that a read asked for at `askedAt` shows */
function faultOf(record: ArticleRecord, shown: Pick<SeenArticle, 'title' | 'text'>, askedAt: number) {
  const { deletedAt, refused, versions } = record;
  if (refused) return 'its publication was refused';
  if (deletedAt !== undefined && deletedAt < askedAt)
    return `its deletion was acknowledged at ${at(deletedAt)}`;
  return versions.faultOf(textOf(shown), askedAt);
}

export const articles: Rule = {
  name: 'articles-are-kept',
  says: 'An acknowledged article is shown as it was last written, by its author’s name, until it is deleted, and then by nobody',
  source: 'docs/contract.md, section 3, promise 1',
  watch(run, report) {
    const { articles, world } = run;

    function checkSummary(one: SeenArticle, place: string, askedAt: number): void {
      const record = articles.shown(one);
      if (!record) return;
      const shown = `${place} shows article ${one.article} "${textOf(one)}"`;
      const fault = faultOf(record, one, askedAt);
      if (fault) report(`${shown}: ${fault}`);
      if (record.id !== undefined && record.id !== one.article)
        report(`${shown}: it had the number ${record.id}`);
      const name = world.member(record.author)?.nickname;
      if (one.name !== name) report(`${shown} by "${one.name}", and "${name}" wrote it`);
      const thumbnail = record.thumbnail ?? NO_THUMBNAIL;
      if (one.thumbnail !== thumbnail)
        report(`${shown} with the thumbnail ${one.thumbnail}; it is ${thumbnail}`);
    }

    function checkDetail(asked: Asked<'article'>, ok: Answered<'article'>): void {
      const record = articles.byId(asked.article);
      if (!record) return;
      const shown = `article ${asked.article}, asked for at ${at(asked.t)}, is "${textOf(ok)}"`;
      const fault = faultOf(record, ok, asked.t);
      if (fault) report(`${shown}: ${fault}`);
      if (ok.author !== record.author) report(`${shown} by member ${ok.author}; ${record.author} wrote it`);
    }

    return {
      answered(ok, asked) {
        if (ok.f === 'article' && asked.f === 'article') checkDetail(asked, ok);
        if (ok.f !== 'articles') return;
        const list = `the list of articles, asked for at ${at(asked.t)},`;
        for (const one of ok.list) checkSummary(one, list, asked.t);
        for (const one of [ok.hot, ok.weekly])
          if (one) checkSummary(one, `${list} as hot or weekly`, asked.t);
      },
      unanswered(outcome, asked) {
        if (outcome.e !== 'fail') return;
        const record = articles.byId(articleOf(asked) ?? Number.NaN);
        if (!record) return;
        const { code } = outcome;
        if (code === 'ARTICLE_NOT_FOUND' && record.deletionAskedAt === undefined)
          report(`${asked.f} of article ${record.id} is refused as not found, and nobody has deleted it`);
        if (code === 'FORBIDDEN' && isChange(asked) && record.author === asked.member)
          report(`${asked.f} of article ${record.id} is refused to its author`);
      },
    };
  },
};

/** A page of the list of the newest, as one client has read it last. */
interface Page {
  asked: Asked<'articles'>;
  last: number;
}

/** Whether an article was there from then until now: it was shown or acknowledged before, and nobody has asked to delete it. */
const isThere = ({ seenAt, deletionAskedAt, refused }: ArticleRecord, since: number): boolean =>
  seenAt !== undefined && seenAt < since && deletionAskedAt === undefined && !refused;

/** Whether one may have been published or deleted since then: pages move by it. */
function mayHaveMoved(run: Run, since: number, by: 'publication' | 'deletion'): boolean {
  return run.articles
    .all()
    .some(({ seenAt, refused, deletionAskedAt, deletedAt }) =>
      by === 'publication'
        ? !refused && (seenAt ?? Number.POSITIVE_INFINITY) >= since
        : deletionAskedAt !== undefined && (deletedAt ?? Number.POSITIVE_INFINITY) >= since,
    );
}

export const articleLists: Rule = {
  name: 'article-lists-are-whole',
  says: 'A list of articles is in its order, holds each once, and leaves none out, within a page and from page to page',
  source: 'docs/contract.md, section 3; docs/decisions/long-lists.md',
  watch(run, report) {
    const pages = new Map<string, Page>();
    let isForeign = false;

    /** @param from, to those between these numbers are to be in the list */
    function checkBetween(list: SeenArticle[], asked: Invoke, since: number, from: number, to: number): void {
      const listed = new Set(list.map(({ article }) => article));
      for (const record of run.articles.all()) {
        const { id } = record;
        if (id === undefined || id <= from || id >= to || listed.has(id) || !isThere(record, since)) continue;
        report(
          `the newest articles, asked for at ${at(asked.t)}, lack number ${id}, between ${from} and ${to}`,
        );
      }
    }

    function checkOrder(asked: Asked<'articles'>, { list }: Answered<'articles'>): void {
      for (const [i, { article }] of list.entries()) {
        const before = list[i - 1]?.article;
        if (before !== undefined && article >= before)
          report(`the newest articles, asked for at ${at(asked.t)}, show ${article} after ${before}`);
      }
    }

    /** A page alone holds all that is there between its first and its last one. */
    function checkPage(asked: Asked<'articles'>, { list }: Answered<'articles'>): void {
      const [first, last] = [list[0], list.at(-1)];
      const from = list.length < asked.size ? 0 : (last?.article ?? 0);
      const to = asked.page === 1 ? Number.POSITIVE_INFINITY : (first?.article ?? 0);
      checkBetween(list, asked, asked.t, from, to);
    }

    /** A page goes on where the one before it ended, while nothing is published or deleted. */
    function checkNext({ asked: before, last }: Page, asked: Asked<'articles'>, list: SeenArticle[]): void {
      const [first] = list;
      if (!first || before.page + 1 !== asked.page || before.size !== asked.size) return;
      const since = before.t;
      if (first.article >= last && !mayHaveMoved(run, since, 'publication'))
        report(
          `page ${asked.page} of the newest articles, asked for at ${at(asked.t)}, shows ${first.article}; the one before it ended with ${last}`,
        );
      if (!mayHaveMoved(run, since, 'deletion')) checkBetween(list, asked, since, first.article, last);
    }

    function checkRecent(asked: Asked<'articles'>, ok: Answered<'articles'>): void {
      checkOrder(asked, ok);
      checkPage(asked, ok);
      const before = pages.get(asked.client);
      if (before && !isForeign) checkNext(before, asked, ok.list);
      const last = ok.list.at(-1);
      if (last) pages.set(asked.client, { asked, last: last.article });
    }

    function checkLiked(asked: Asked<'articles'>, { list }: Answered<'articles'>): void {
      const ids = new Set<number>();
      for (const [i, { article, likes }] of list.entries()) {
        const shown = `the most liked articles, asked for at ${at(asked.t)}, show ${article}`;
        if (likes > (list[i - 1]?.likes ?? Number.POSITIVE_INFINITY))
          report(`${shown} with ${likes} likes after one with ${list[i - 1]?.likes}`);
        if (ids.has(article)) report(`${shown} twice`);
        ids.add(article);
      }
    }

    /** A search for a title finds its article. */
    function checkFound({ keyword = '', t }: Asked<'articles'>, { list }: Answered<'articles'>): void {
      for (const { title, article } of list)
        if (!title.toLowerCase().includes(keyword.toLowerCase()))
          report(`the search for "${keyword}", asked for at ${at(t)}, finds article ${article} "${title}"`);
      const record = run.articles.byTitle(keyword);
      if (!record || !isThere(record, t) || list.some((one) => run.articles.shown(one) === record)) return;
      // It may have been edited.
      if (record.versions.isOnly)
        report(`the search for "${keyword}", asked for at ${at(t)}, does not find it`);
    }

    return {
      header({ options }) {
        isForeign = options.foreign === true;
      },
      answered(ok, asked) {
        if (ok.f !== 'articles' || asked.f !== 'articles') return;
        if (asked.keyword !== undefined) {
          if (asked.page === 1) checkFound(asked, ok);
        } else if (asked.order === 'recent') checkRecent(asked, ok);
        else checkLiked(asked, ok);
      },
    };
  },
};
