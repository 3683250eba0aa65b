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
      // Others may have given some.
      if (likes >= least && (likes <= most || run.isShared)) return;
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
  says: 'An acknowledged comment is in every later list of its article, once and as it was last written, until it is deleted, and then without its text, or not at all',
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
        if (run.isShared && !comment && !run.world.member(author)) continue;
        const fault = faultOf(one, comment, asked);
        if (comment && seen.has(comment)) report(`${shown} and with id ${seen.get(comment)}`);
        else if (fault) report(`${shown}: ${fault}`);
        seen.set(comment, id);
      }
      return seen;
    }

    /** A deleted comment is shown without its text, for the sake of its replies. */
    function checkDeleted(listed: SeenComment[], list: string): void {
      const answered = new Set(listed.map(({ parent }) => parent));
      for (const { id, content } of listed.filter(({ deleted }) => deleted)) {
        if (content !== '') report(`${list} show the text of comment ${id}, which is deleted: "${content}"`);
        // Until then the removal of its last reply may be under way.
        if (run.phase === 'final' && !run.isShared && !answered.has(id))
          report(`${list} show comment ${id}, which is deleted and has no replies`);
      }
    }

    return {
      answered(ok, asked) {
        if (ok.f !== 'comments' || asked.f !== 'comments') return;
        const list = `the comments of article ${asked.article}, asked for at ${at(asked.t)},`;
        checkDeleted(ok.comments, list);
        const seen = checkListed(ok.comments, asked, list);
        for (const comment of run.comments.ofArticle(asked.article).kept) {
          if (!isDue(comment, asked.t) || seen.has(comment)) continue;
          report(`${list} lack "${comment.content}", acknowledged at ${at(comment.ackedAt ?? 0)}`);
        }
      },
    };
  },
};

/** The counts of an article, as an answer shows them. */
type Shown = Pick<Answered<'article'>, 'views' | 'comments'>;

/** What they were when it was asked for. */
interface Before {
  views: number;
  live: Mark;
}

export const counters: Rule = {
  name: 'counters-are-records',
  says: 'The counts of an article, in lists too, equal its records: comments those acknowledged, exactly those listed when it is quiet; views rise with each reading, by no more than are tried',
  source: 'docs/contract.md, promise 4; docs/decisions/counters.md',
  watch(run, report) {
    /** The most views answered so far, and readings that were asked for, by article. */
    const views = new Map<number, number>();
    const readings = new Map<number, number>();
    /** What that and the comments were when a reading or a list began, by its operation and by article. */
    const begun = new Map<number, Map<number, Before>>();
    /** Live comments by the count and by the list, since the traffic ended. */
    const counted = new Map<number, number>();
    const listed = new Map<number, number>();

    function compare(article: number): void {
      const [count, length] = [counted.get(article), listed.get(article)];
      if (count === undefined || length === undefined) return;
      run.coverage.add('commentCountsCompared');
      if (count !== length && !run.isShared)
        report(`article ${article} counts ${count} comments; ${length} are listed`);
    }

    const before = (article: number): Before => ({
      views: views.get(article) ?? 0,
      live: run.comments.ofArticle(article).live.mark(),
    });

    /** @param own readings that the answer counts itself */
    function checkCounts(article: number, shown: Shown, before: Before, own: number, askedAt: number): void {
      const name = `article ${article}, asked for at ${at(askedAt)},`;
      if (shown.views < before.views + own)
        report(`${name} shows ${shown.views} views; it had ${before.views} before`);
      const tried = readings.get(article) ?? 0;
      // Others read and write, too.
      if (shown.views > tried && !run.isShared)
        report(`${name} shows ${shown.views} views; ${tried} readings were tried`);
      const [least, most] = run.comments.ofArticle(article).live.since(before.live);
      if (shown.comments < least || (shown.comments > most && !run.isShared))
        report(`${name} counts ${shown.comments} comments; there are ${least} to ${most}`);
    }

    function checkReading({ article, t }: Asked<'article'>, ok: Answered<'article'>): void {
      const known = begun.get(ok.op)?.get(article);
      if (!known) return;
      checkCounts(article, ok, known, 1, t);
      views.set(article, Math.max(ok.views, views.get(article) ?? 0));
      if (run.phase !== 'final') return;
      counted.set(article, ok.comments);
      compare(article);
    }

    function checkList(ok: Answered<'articles'>, askedAt: number): void {
      for (const one of summariesOf(ok)) {
        const known = begun.get(ok.op)?.get(one.article);
        if (known && run.articles.byId(one.article)?.deletionAskedAt === undefined)
          checkCounts(one.article, one, known, 0, askedAt);
      }
    }

    return {
      asked(asked) {
        if (asked.f === 'article') {
          readings.set(asked.article, (readings.get(asked.article) ?? 0) + 1);
          begun.set(asked.op, new Map([[asked.article, before(asked.article)]]));
        } else if (asked.f === 'articles') {
          const known = run.articles.all().flatMap(({ id }) => id ?? []);
          begun.set(asked.op, new Map(known.map((article) => [article, before(article)])));
        }
      },
      unanswered: (_, { op }) => void begun.delete(op),
      answered(ok, asked) {
        if (ok.f === 'article' && asked.f === 'article') checkReading(asked, ok);
        if (ok.f === 'articles') checkList(ok, asked.t);
        begun.delete(ok.op);
        if (ok.f === 'comments' && asked.f === 'comments' && run.phase === 'final') {
          listed.set(asked.article, ok.comments.filter(({ deleted }) => !deleted).length);
          compare(asked.article);
        }
      },
    };
  },
};
