import type { Invoke } from '../../history.js';
import { Toggles } from '../facts/toggles.js';
import { type Asked, at, type Rule } from '../rule.js';

/**
 * How old the hearts may be by which a process has chosen, ms: another process's are seen after a second, or fifty times as long
 * as counting them takes (docs/decisions/hot-and-weekly.md), on a busy machine.
 */
const STALE_MS = 60_000;

const keyOf = (asked: Invoke): string | undefined =>
  (asked.f === 'heart' || asked.f === 'unheart') && asked.target === 'article' ? `${asked.id}` : undefined;

export const trending: Rule = {
  name: 'hot-and-weekly-lead',
  says: 'The hot and the weekly article are those with the most hearts of all; a run lasts no day',
  source: 'docs/contract.md, section 3; docs/decisions/hot-and-weekly.md',
  watch(run, report) {
    const toggles = new Toggles();
    /** The least and most hearts that an article had at any moment by which it may have been chosen. */
    const heartsOf = (article: number, asked: Asked<'articles'>) =>
      toggles.countSince(`${article}`, asked.t - STALE_MS);

    function check(name: 'hot' | 'weekly', shown: number | undefined, asked: Asked<'articles'>): void {
      const [, most] = shown === undefined ? [0, 0] : heartsOf(shown, asked);
      for (const { id, seenAt, deletionAskedAt } of run.articles.all()) {
        if (id === undefined || id === shown || seenAt === undefined || deletionAskedAt !== undefined)
          continue;
        const [least] = heartsOf(id, asked);
        if (least <= most) continue;
        report(
          `the ${name} article, asked for at ${at(asked.t)}, is ${shown ?? 'none'} with at most ${most} hearts; article ${id} has ${least} at least`,
        );
        return;
      }
      run.coverage.add('leadersCompared');
    }

    return {
      asked(asked) {
        const key = keyOf(asked);
        if (key !== undefined) toggles.asked(toggles.one(key, asked.member), asked.f === 'heart');
      },
      answered(ok, asked) {
        const key = keyOf(asked);
        if (key !== undefined) toggles.answered(toggles.one(key, asked.member), asked.f === 'heart', ok.t);
        if (ok.f !== 'articles' || asked.f !== 'articles' || run.isShared) return;
        check('hot', ok.hot?.article, asked);
        check('weekly', ok.weekly?.article, asked);
      },
      unanswered(outcome, asked) {
        const key = keyOf(asked);
        if (key !== undefined) toggles.unanswered(toggles.one(key, asked.member), outcome);
      },
    };
  },
};
