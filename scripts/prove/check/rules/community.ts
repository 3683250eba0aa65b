import type { Invoke, Ok, SeenComment } from '../../history.js';
import type { SentComment } from '../facts/comments.js';
import { type Asked, at, type Rule } from '../rule.js';

/** Whether a member has given a heart; undefined: nobody can tell. */
interface Heart {
  given: boolean | undefined;
  /** Operations under way. */
  open: number;
  /** Whether the outcome of one is unknown: it may be done at any time. */
  isUncertain: boolean;
}

/** What a refusal says about a heart: a second one is a conflict, one that is not there is not found. */
const KNOWN_BY = new Map([
  ['heart 409', true],
  ['unheart 404', false],
]);

export const hearts: Rule = {
  name: 'hearts-are-counted',
  says: 'The count of likes of an article or comment is that of its acknowledged hearts, exact when it is quiet',
  source: 'docs/contract.md, section 3, promise 4; docs/decisions/counters.md',
  watch(run, report) {
    const targets = new Map<string, Map<number, Heart>>();
    const heartOf = ({ target, id, member }: Asked<'heart'> | Asked<'unheart'>): Heart => {
      const key = `${target} ${id}`;
      const hearts = targets.get(key) ?? new Map<number, Heart>();
      targets.set(key, hearts);
      const heart = hearts.get(member) ?? { given: false, open: 0, isUncertain: false };
      hearts.set(member, heart);
      return heart;
    };
    const isHeart = (asked: { f: string }): asked is Asked<'heart'> | Asked<'unheart'> =>
      asked.f === 'heart' || asked.f === 'unheart';

    function settle(asked: Asked<'heart'> | Asked<'unheart'>, given: boolean | undefined): void {
      const heart = heartOf(asked);
      heart.open -= 1;
      // Of two at the same time nobody can tell which was the later one.
      heart.given = heart.open > 0 || heart.isUncertain ? undefined : given;
    }

    function check(key: string, likes: number): void {
      const all = [...(targets.get(key)?.values() ?? [])];
      const least = all.filter(({ given }) => given === true).length;
      const most = all.filter(({ given }) => given !== false).length;
      run.coverage.add('heartCountsCompared');
      if (likes >= least && likes <= most) return;
      report(`${key} shows ${likes} likes; it is ${least === most ? least : `${least} to ${most}`}`);
    }

    function compare(ok: Ok, asked: Invoke): void {
      if (ok.f === 'article' && asked.f === 'article') check(`article ${asked.article}`, ok.likes);
      if (ok.f !== 'comments') return;
      for (const { id, likes, deleted } of ok.comments) if (!deleted) check(`comment ${id}`, likes);
    }

    return {
      asked(asked) {
        if (!isHeart(asked)) return;
        const heart = heartOf(asked);
        heart.open += 1;
        if (heart.open > 1) heart.given = undefined;
      },
      answered(ok, asked) {
        if (isHeart(asked)) settle(asked, heartOf(asked).open > 1 ? undefined : asked.f === 'heart');
        if (run.phase === 'final') compare(ok, asked);
      },
      unanswered(outcome, asked) {
        if (!isHeart(asked)) return;
        const heart = heartOf(asked);
        const { given } = heart;
        if (outcome.e === 'info') {
          heart.isUncertain = true;
          settle(asked, undefined);
        } else settle(asked, KNOWN_BY.get(`${asked.f} ${outcome.status}`) ?? given);
      },
    };
  },
};

/** @returns what is wrong with a comment as a list shows it */
function faultOf(
  { id, author }: SeenComment,
  comment: SentComment | undefined,
  asked: Asked<'comments'>,
): string | undefined {
  if (comment?.article !== asked.article) return 'nobody has sent it';
  if (comment.author !== author) return `member ${comment.author} wrote it`;
  if (comment.refused) return 'it was refused';
  if (comment.id !== id) return `it had the id ${comment.id}`;
  const { removedAt } = comment;
  return removedAt !== undefined && removedAt < asked.t
    ? `its deletion was acknowledged at ${at(removedAt)}`
    : undefined;
}

export const comments: Rule = {
  name: 'comments-are-kept',
  says: 'An acknowledged comment is in every later list of its article, once and as it was written, until it is deleted',
  source: 'docs/contract.md, section 3, promise 1',
  watch(run, report) {
    const isRemoved = (id: number | undefined) =>
      id !== undefined && run.comments.byId(id)?.removalAskedAt !== undefined;

    /** Whether a list asked for then must hold it. */
    const isDue = ({ ackedAt, removalAskedAt, parent }: SentComment, askedAt: number): boolean =>
      ackedAt !== undefined &&
      ackedAt < askedAt &&
      removalAskedAt === undefined &&
      // A reply is shown with its comment.
      !isRemoved(parent);

    /** @returns the id that each content is listed with */
    function checkListed(listed: SeenComment[], asked: Asked<'comments'>, list: string): Map<string, number> {
      const seen = new Map<string, number>();
      for (const one of listed.filter(({ deleted }) => !deleted)) {
        const { id, content, author } = one;
        const shown = `${list} show "${content}" of member ${author} (id ${id})`;
        const fault = faultOf(one, run.comments.byContent(content), asked);
        if (seen.has(content)) report(`${shown} and with id ${seen.get(content)}`);
        else if (fault) report(`${shown}: ${fault}`);
        seen.set(content, id);
      }
      return seen;
    }

    return {
      answered(ok, asked) {
        if (ok.f !== 'comments' || asked.f !== 'comments') return;
        const list = `the comments of article ${asked.article}, asked for at ${at(asked.t)},`;
        const seen = checkListed(ok.comments, asked, list);
        if (run.phase !== 'final') return;
        for (const comment of run.comments.ofArticle(asked.article)) {
          if (!isDue(comment, asked.t) || seen.has(comment.content)) continue;
          report(`${list} lack "${comment.content}", acknowledged at ${at(comment.ackedAt ?? 0)}`);
        }
      },
    };
  },
};

export const counters: Rule = {
  name: 'counters-are-records',
  says: 'The counts of an article equal its records: comments those listed, views rise with each reading',
  source: 'docs/contract.md, promise 4; docs/decisions/counters.md',
  watch(run, report) {
    /** The most views answered so far, by article, and what it was when a reading began, by its operation. */
    const views = new Map<number, number>();
    const before = new Map<number, number>();
    /** Live comments by the count and by the list, since the traffic ended. */
    const counted = new Map<number, number>();
    const listed = new Map<number, number>();

    function compare(article: number): void {
      const [count, length] = [counted.get(article), listed.get(article)];
      if (count === undefined || length === undefined) return;
      run.coverage.add('commentCountsCompared');
      if (count !== length) report(`article ${article} counts ${count} comments; ${length} are listed`);
    }

    return {
      asked(asked) {
        if (asked.f === 'article') before.set(asked.op, views.get(asked.article) ?? 0);
      },
      unanswered: (_, { op }) => void before.delete(op),
      answered(ok, asked) {
        if (ok.f === 'article' && asked.f === 'article') {
          const least = before.get(ok.op) ?? 0;
          before.delete(ok.op);
          if (ok.views <= least)
            report(`article ${asked.article} shows ${ok.views} views, after ${least} before this reading`);
          views.set(asked.article, Math.max(ok.views, views.get(asked.article) ?? 0));
          if (run.phase === 'final') {
            counted.set(asked.article, ok.comments);
            compare(asked.article);
          }
        }
        if (ok.f === 'comments' && asked.f === 'comments' && run.phase === 'final') {
          listed.set(asked.article, ok.comments.filter(({ deleted }) => !deleted).length);
          compare(asked.article);
        }
      },
    };
  },
};
