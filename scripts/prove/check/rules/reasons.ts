import type { Fail, Info, Invoke, OperationName } from '../../history.js';
import { describe, mayBeDeleted } from '../facts/notifications.js';
import { at, type Rule } from '../rule.js';

/** Answers to a member who asks too often, and of a process that has no time. */
const FOR_NOW = new Set([429, 503]);

const NO_ARTICLE = 'ARTICLE_NOT_FOUND';
const NO_COMMENT = 'COMMENT_NOT_FOUND';

/** Codes with which an operation may be refused that its member may do, of what is there; others with none. (docs/interface.md) */
const REASONS: Partial<Record<OperationName, readonly string[]>> = {
  article: [NO_ARTICLE],
  edit: [NO_ARTICLE],
  unpublish: [NO_ARTICLE],
  comments: [NO_ARTICLE],
  comment: [NO_ARTICLE, NO_COMMENT, 'COMMENTS_FULL'],
  editComment: [NO_COMMENT],
  uncomment: [NO_COMMENT],
  heart: [NO_ARTICLE, NO_COMMENT, 'ALREADY_HEARTED'],
  unheart: [NO_ARTICLE, NO_COMMENT, 'HEART_NOT_FOUND'],
  bookmark: [NO_ARTICLE, 'ALREADY_BOOKMARKED'],
  unbookmark: [NO_ARTICLE, 'BOOKMARK_NOT_FOUND'],
  check: ['NOTIFICATION_NOT_FOUND'],
};

/** The comment that must be there, but for its removal: a proxy may repeat that. */
function commentOf(asked: Invoke): number | undefined {
  if (asked.f === 'comment') return asked.parent;
  if (asked.f === 'editComment') return asked.comment;
  return 'target' in asked && asked.target === 'comment' ? asked.id : undefined;
}

export const reasons: Rule = {
  name: 'refused-for-a-reason',
  says: 'What a member may do is refused only as documented, and not as missing while it is there; without faults nothing is answered 500',
  source: 'docs/interface.md; docs/contract.md, sections 2 to 6, promise 7',
  watch(run, report) {
    /** Whether it says nothing of what was asked for. */
    function isOfCaller(asked: Invoke, { code, status }: Fail): boolean {
      // The service may have forgotten who uses this client; tokens that were given may end.
      const isUnknown = code === 'UNAUTHORIZED' && 'anonymous' in asked && asked.anonymous === true;
      return FOR_NOW.has(status) || isUnknown || (code === 'TOKEN_EXPIRED' && run.isShared);
    }

    /** @returns what is there although it was refused as missing */
    function thereOf(asked: Invoke, code: string): string | undefined {
      if (code === NO_COMMENT) {
        const comment = run.comments.byId(commentOf(asked) ?? 0);
        const isThere = comment && comment.removalAskedAt === undefined && !comment.mayBeRemoved;
        return isThere ? `comment "${comment.content}"` : undefined;
      }
      if (asked.f !== 'check') return undefined;
      const inbox = run.notifications.of(asked.member);
      const record = inbox.records.get(asked.notification);
      return record && !mayBeDeleted(inbox, record) ? describe(record) : undefined;
    }

    function faultOf(asked: Invoke, refusal: Fail): string | undefined {
      if (asked.f === 'intrude' || isOfCaller(asked, refusal)) return undefined;
      if (!REASONS[asked.f]?.includes(refusal.code)) return 'without reason';
      const there = run.isShared ? undefined : thereOf(asked, refusal.code);
      return there && `and nobody has deleted ${there}`;
    }

    return {
      unanswered(outcome: Fail | Info, asked) {
        const shown = `${asked.f} by ${asked.client}, asked at ${at(asked.t)}, is`;
        if (outcome.e === 'info') {
          if (outcome.reason.startsWith('500 ') && run.disturbances.strikes === 0)
            report(`${shown} answered ${outcome.reason}`);
          return;
        }
        const fault = faultOf(asked, outcome);
        if (fault) report(`${shown} refused with ${outcome.status} ${outcome.code}, ${fault}`);
      },
    };
  },
};
