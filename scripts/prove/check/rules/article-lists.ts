import type { SeenArticle } from '../../answers/articles.js';
import type { Invoke } from '../../history.js';
import type { ArticleRecord } from '../facts/articles.js';
import type { Run } from '../facts/run.js';
import { type Answered, type Asked, at, type Report, type Rule } from '../rule.js';

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

/**
 * Follows lists of the most liked that are read to their end. After the traffic nothing moves from page to page.
 * @returns takes the next page, and returns the articles of those before it
 */
function wholeLists(run: Run, report: Report) {
  /** The articles of the pages so far, by client and process. */
  const pages = new Map<string, { ids: Set<number>; since: number }>();
  return ({ client, process, page, size, t }: Asked<'articles'>, list: SeenArticle[]) => {
    const key = `${client} ${process}`;
    const begun = page === 1 ? { ids: new Set<number>(), since: t } : pages.get(key);
    if (!begun || run.phase !== 'final' || run.isShared) return new Set();
    const before = new Set(begun.ids);
    for (const { article } of list) begun.ids.add(article);
    pages.set(key, begun);
    const missing = run.articles
      .all()
      .flatMap((one) => (one.id !== undefined && isThere(one, begun.since) ? one.id : []))
      .filter((id) => !begun.ids.has(id));
    if (list.length < size && missing.length > 0)
      report(`the most liked articles, read to their end at ${at(t)}, lack ${missing.join()}`);
    return before;
  };
}

export const articleLists: Rule = {
  name: 'article-lists-are-whole',
  says: 'A list of articles is in its order, holds each once, and leaves none out, within a page and from page to page',
  source: 'docs/contract.md, section 3; docs/decisions/long-lists.md',
  watch(run, report) {
    const pages = new Map<string, Page>();
    const pagesBefore = wholeLists(run, report);

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
      if (before && !run.isShared) checkNext(before, asked, ok.list);
      const last = ok.list.at(-1);
      if (last) pages.set(asked.client, { asked, last: last.article });
    }

    function checkLiked(asked: Asked<'articles'>, { list }: Answered<'articles'>): void {
      const ids = pagesBefore(asked, list);
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
      answered(ok, asked) {
        if (ok.f !== 'articles' || asked.f !== 'articles') return;
        if (ok.list.length > asked.size)
          report(`a page of articles, asked for at ${at(asked.t)}, has more than ${asked.size}`);
        if (asked.keyword !== undefined) {
          if (asked.page === 1) checkFound(asked, ok);
        } else if (asked.order === 'recent') checkRecent(asked, ok);
        else checkLiked(asked, ok);
      },
    };
  },
};
