import type { Fail, Info, Invoke, Ok } from '../../history.js';
import type { CountedName } from '../facts/coverage.js';
import type { Run } from '../facts/run.js';
import type { Watcher } from '../rule.js';

const BY_CODE = new Map<string, CountedName>([
  ['ALREADY_HEARTED', 'secondHearts'],
  ['HEART_NOT_FOUND', 'missingHearts'],
  ['ALREADY_BOOKMARKED', 'secondBookmarks'],
  ['BOOKMARK_NOT_FOUND', 'missingBookmarks'],
  ['ARTICLE_NOT_FOUND', 'articlesNotFound'],
]);

const RACED = { heart: 'racingHearts', bookmark: 'racingBookmarks', openRoom: 'racingRooms' } as const;

/** Requests of one member for the same at the same time. */
interface Race {
  open: number;
  /** Whether there were two, and all were answered so far. */
  isOne: boolean;
  areAnswered: boolean;
}

const keyOf = (asked: Invoke): string | undefined => {
  if (asked.f === 'heart') return `heart ${asked.member} ${asked.target} ${asked.id}`;
  if (asked.f === 'openRoom') return `room ${asked.member} ${asked.sale}`;
  return asked.f === 'bookmark' ? `bookmark ${asked.member} ${asked.article}` : undefined;
};

/** Counts refusals of what is done already, and requests of a member that race for the same. */
export function communityPaths(run: Run): Watcher {
  const races = new Map<string, Race>();

  function settle(outcome: Ok | Fail | Info, asked: Invoke): void {
    const key = keyOf(asked) ?? '';
    const race = races.get(key);
    if (!race) return;
    race.open -= 1;
    race.areAnswered &&= outcome.e !== 'info';
    if (race.open > 0) return;
    races.delete(key);
    const raced = RACED[asked.f as keyof typeof RACED];
    if (race.isOne && race.areAnswered && raced) run.reach(raced);
  }

  return {
    asked(asked) {
      const key = keyOf(asked);
      if (key === undefined) return;
      const race = races.get(key) ?? { open: 0, isOne: false, areAnswered: true };
      race.open += 1;
      race.isOne ||= race.open > 1;
      races.set(key, race);
    },
    answered(ok, asked) {
      settle(ok, asked);
      if (ok.f === 'comments' && ok.comments.some(({ deleted }) => deleted)) run.reach('flaggedComments');
      if (ok.f === 'articles' && asked.f === 'articles' && asked.page > 1 && ok.list.length > 0)
        run.reach('articlePages');
    },
    unanswered(outcome, asked) {
      settle(outcome, asked);
      const refused = outcome.e === 'fail' && asked.f !== 'intrude' ? BY_CODE.get(outcome.code) : undefined;
      if (refused) run.reach(refused);
    },
  };
}
