import type { Invoke, Ok, SeenComment } from '../../history.js';
import type { SentComment } from '../facts/comments.js';
import type { Mark } from '../facts/tally.js';
import { type Toggle, Toggles } from '../facts/toggles.js';
import { type Answered, type Asked, at, type Rule } from '../rule.js';

/** The articles that a list shows, the hot and the weekly one included. */
const summariesOf = ({ list, hot, weekly }: Answered<'articles'>) =>
  [...list, hot, weekly].filter((one) => one !== undefined);

type AskedHeart = Asked<'heart'> | Asked<'unheart'>;

const isHeart = (asked: Invoke): asked is AskedHeart => asked.f === 'heart' || asked.f === 'unheart';

export const hearts: Rule = {
  name: 'hearts-are-counted',
  says: 'The count of likes of an article or comment is that of its acknowledged hearts, at most one a member: exact when it is quiet',
  source: 'docs/contract.md, section 3, promise 4; docs/decisions/counters.md',
  watch(run, report) {
    const toggles = new Toggles();
    const toggleOf = ({ target, id, member }: AskedHeart) => toggles.one(`${target} ${id}`, member);

    /** @param askedAt when the read began that shows them @param own the heart that it answers */
    function check(key: string, likes: number, askedAt: number, own?: Toggle): void {
      const [least, most] = toggles.countSince(key, askedAt, own);
      run.coverage.add('heartCountsCompared');
      if (likes >= least && likes <= most) return;
      report(
        `${key}, asked for at ${at(askedAt)}, shows ${likes} likes; it is ${least === most ? least : `${least} to ${most}`}`,
      );
    }

    function settle(ok: { t: number; count: number }, asked: AskedHeart): void {
      const toggle = toggleOf(asked);
      const isGiven = asked.f === 'heart';
      if (toggles.answered(toggle, isGiven, ok.t)) {
        report(
          `member ${asked.member} ${isGiven ? 'gives' : 'removes'} a heart ${isGiven ? 'that was given before' : 'that was not given'}: ${asked.target} ${asked.id}`,
        );
      }
      if (asked.target === 'comment' || isLive(asked.id))
        check(`${asked.target} ${asked.id}`, ok.count, asked.t, toggle);
    }

    /** Counts of likes that an answer shows; what is deleted loses its hearts. */
    function shownBy(ok: Ok, asked: Invoke): { key: string; likes: number }[] {
      if (ok.f === 'article' && asked.f === 'article')
        return isLive(asked.article) ? [{ key: `article ${asked.article}`, likes: ok.likes }] : [];
      if (ok.f === 'articles')
        return summariesOf(ok).flatMap(({ article, likes }) =>
          isLive(article) ? [{ key: `article ${article}`, likes }] : [],
        );
      if (ok.f !== 'comments') return [];
      return ok.comments.flatMap(({ id, likes, deleted }) =>
        deleted ? [] : [{ key: `comment ${id}`, likes }],
      );
    }

    /** Whether it is an article of the run that nobody has asked to delete. */
    const isLive = (article: number) => {
      const record = run.articles.byId(article);
      return record !== undefined && record.deletionAskedAt === undefined;
    };

    return {
      asked(asked) {
        if (isHeart(asked)) toggles.asked(toggleOf(asked), asked.f === 'heart');
      },
      answered(ok, asked) {
        if ('count' in ok && isHeart(asked)) settle(ok, asked);
        for (const { key, likes } of shownBy(ok, asked)) check(key, likes, asked.t);
      },
      unanswered(outcome, asked) {
        if (!isHeart(asked) || !toggles.unanswered(toggleOf(asked), outcome)) return;
        report(
          `member ${asked.member} is refused a heart as given before, and has given none: ${asked.target} ${asked.id}`,
        );
      },
    };
  },
};

type AskedBookmark = Asked<'bookmark'> | Asked<'unbookmark'>;

const isBookmark = (asked: Invoke): asked is AskedBookmark =>
  asked.f === 'bookmark' || asked.f === 'unbookmark';

export const bookmarks: Rule = {
  name: 'bookmarks-are-kept',
  says: 'An acknowledged bookmark is there until it is removed: a second one is refused, and no other is',
  source: 'docs/contract.md, section 3',
  watch(run, report) {
    const toggles = new Toggles();
    const toggleOf = ({ article, member }: AskedBookmark) => toggles.one(`article ${article}`, member);

    /** Nothing shows bookmarks: whether one is there, only an answer to another tells. */
    function check(asked: AskedBookmark, wasOn: boolean | undefined, fault: string | undefined): void {
      if (wasOn !== undefined && run.phase === 'final') run.coverage.add('bookmarksCompared');
      if (fault) report(`member ${asked.member} ${fault}: article ${asked.article}`);
    }

    return {
      asked(asked) {
        if (isBookmark(asked)) toggles.asked(toggleOf(asked), asked.f === 'bookmark');
      },
      answered({ t }, asked) {
        if (!isBookmark(asked)) return;
        const toggle = toggleOf(asked);
        const { isOn } = toggle;
        const wasSo = toggles.answered(toggle, asked.f === 'bookmark', t);
        const fault =
          asked.f === 'bookmark' ? 'sets a bookmark that was set' : 'removes a bookmark that was not set';
        check(asked, isOn, wasSo ? fault : undefined);
      },
      unanswered(outcome, asked) {
        if (!isBookmark(asked)) return;
        const toggle = toggleOf(asked);
        const { isOn } = toggle;
        const wasOff = toggles.unanswered(toggle, outcome);
        check(asked, isOn, wasOff ? 'is refused a bookmark as set before, and has set none' : undefined);
      },
    };
  },
};

/** @returns what is wrong with a comment as a list shows it */
function faultOf(
  { id, author, content, parent }: SeenComment,
  comment: SentComment | undefined,
  asked: Asked<'comments'>,
): string | undefined {
  if (comment?.article !== asked.article) return 'nobody has sent it';
  if (comment.author !== author) return `member ${comment.author} wrote it`;
  if (comment.parent !== parent)
    return `it replies to ${comment.parent ?? 'none'}, and is shown below ${parent ?? 'none'}`;
  if (comment.refused) return 'it was refused';
  if (comment.id !== id) return `it had the id ${comment.id}`;
  const { removedAt, versions } = comment;
  return removedAt !== undefined && removedAt < asked.t
    ? `its deletion was acknowledged at ${at(removedAt)}`
    : versions.faultOf(content, asked.t);
}

export const comments: Rule = {
  name: 'comments-are-kept',
  says: 'An acknowledged comment is in every later list of its article, once and as it was last written, until it is deleted',
  source: 'docs/contract.md, section 3, promise 1',
  watch(run, report) {
    const isRemoved = (id: number | undefined) =>
      id !== undefined && run.comments.byId(id)?.removalAskedAt !== undefined;

    /** Whether a list asked for then must hold it, which nobody has asked to be removed. */
    const isDue = ({ ackedAt, parent }: SentComment, askedAt: number): boolean =>
      ackedAt !== undefined &&
      ackedAt < askedAt &&
      // A reply is shown with its comment.
      !isRemoved(parent);

    /** @returns the id that each comment is listed with */
    function checkListed(
      listed: SeenComment[],
      asked: Asked<'comments'>,
      list: string,
    ): Map<SentComment | undefined, number> {
      const seen = new Map<SentComment | undefined, number>();
      for (const one of listed.filter(({ deleted }) => !deleted)) {
        const { id, content, author } = one;
        const shown = `${list} show "${content}" of member ${author} (id ${id})`;
        const comment = run.comments.byContent(content);
        const fault = faultOf(one, comment, asked);
        if (comment && seen.has(comment)) report(`${shown} and with id ${seen.get(comment)}`);
        else if (fault) report(`${shown}: ${fault}`);
        seen.set(comment, id);
      }
      return seen;
    }

    return {
      answered(ok, asked) {
        if (ok.f !== 'comments' || asked.f !== 'comments') return;
        const list = `the comments of article ${asked.article}, asked for at ${at(asked.t)},`;
        const seen = checkListed(ok.comments, asked, list);
        for (const comment of run.comments.ofArticle(asked.article).kept) {
          if (!isDue(comment, asked.t) || seen.has(comment)) continue;
          report(`${list} lack "${comment.content}", acknowledged at ${at(comment.ackedAt ?? 0)}`);
        }
      },
    };
  },
};

export const counters: Rule = {
  name: 'counters-are-records',
  says: 'The counts of an article equal its records: comments those acknowledged, exactly those listed when it is quiet; views rise with each reading, by no more than are tried',
  source: 'docs/contract.md, promise 4; docs/decisions/counters.md',
  watch(run, report) {
    /** The most views answered so far, and readings that were asked for, by article. */
    const views = new Map<number, number>();
    const readings = new Map<number, number>();
    /** Others read, too. */
    let isShared = false;
    /** What that and the comments were when a reading began, by its operation. */
    const begun = new Map<number, { views: number; live: Mark }>();
    /** The comments of each article when a list was asked for, by its operation. */
    const listing = new Map<number, Map<number, Mark>>();
    /** Live comments by the count and by the list, since the traffic ended. */
    const counted = new Map<number, number>();
    const listed = new Map<number, number>();

    function compare(article: number): void {
      const [count, length] = [counted.get(article), listed.get(article)];
      if (count === undefined || length === undefined) return;
      run.coverage.add('commentCountsCompared');
      if (count !== length) report(`article ${article} counts ${count} comments; ${length} are listed`);
    }

    /** @param mark what the comments were when the reading began, at `askedAt` */
    function checkComments(article: number, count: number, mark: Mark, askedAt: number): void {
      const [least, most] = run.comments.ofArticle(article).live.since(mark);
      if (count >= least && count <= most) return;
      report(
        `article ${article}, asked for at ${at(askedAt)}, counts ${count} comments; there are ${least} to ${most}`,
      );
    }

    function checkList(asked: Asked<'articles'>, ok: Answered<'articles'>): void {
      const marks = listing.get(ok.op);
      listing.delete(ok.op);
      for (const { article, comments } of summariesOf(ok)) {
        const mark = marks?.get(article);
        if (mark && run.articles.byId(article)?.deletionAskedAt === undefined)
          checkComments(article, comments, mark, asked.t);
      }
    }

    function check(asked: Asked<'article'>, ok: Answered<'article'>): void {
      const { article, t } = asked;
      const before = begun.get(ok.op);
      begun.delete(ok.op);
      if (!before) return;
      if (ok.views <= before.views)
        report(`article ${article} shows ${ok.views} views, after ${before.views} before this reading`);
      const tried = readings.get(article) ?? 0;
      if (ok.views > tried && !isShared)
        report(`article ${article} shows ${ok.views} views; ${tried} readings were tried`);
      views.set(article, Math.max(ok.views, views.get(article) ?? 0));
      checkComments(article, ok.comments, before.live, t);
      if (run.phase !== 'final') return;
      counted.set(article, ok.comments);
      compare(article);
    }

    return {
      header({ options }) {
        isShared = options.gateway !== undefined;
      },
      asked(asked) {
        if (asked.f === 'articles') listing.set(asked.op, run.comments.marks());
        if (asked.f !== 'article') return;
        readings.set(asked.article, (readings.get(asked.article) ?? 0) + 1);
        const live = run.comments.ofArticle(asked.article).live.mark();
        begun.set(asked.op, { views: views.get(asked.article) ?? 0, live });
      },
      unanswered(_, { op }) {
        begun.delete(op);
        listing.delete(op);
      },
      answered(ok, asked) {
        if (ok.f === 'article' && asked.f === 'article') check(asked, ok);
        if (ok.f === 'articles' && asked.f === 'articles') checkList(asked, ok);
        if (ok.f === 'comments' && asked.f === 'comments' && run.phase === 'final') {
          listed.set(asked.article, ok.comments.filter(({ deleted }) => !deleted).length);
          compare(asked.article);
        }
      },
    };
  },
};
