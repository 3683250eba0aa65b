import type { HistoryLine, OperationName } from '../../../../scripts/prove/history.js';
import { calls, type Mutation, the } from './edit-history.js';

/** Has the last success of a kind answered otherwise. */
function answer(
  lines: HistoryLine[],
  f: OperationName,
  outcome: { e: 'fail'; status: number; code: string } | { e: 'info'; reason: string },
): void {
  const { t, op } = the(calls(lines, f).at(-1)).ok;
  lines[lines.findIndex((line) => line.e === 'ok' && line.op === op)] = { t, op, ...outcome };
}

/** Faults of what its name says, by the rule that finds them. */
export const refusalMutations: Mutation[] = [
  {
    fault: 'refuses a member their room',
    rule: 'refused-for-a-reason',
    apply: (lines) => answer(lines, 'messages', { e: 'fail', status: 403, code: 'FORBIDDEN' }),
  },
  {
    fault: 'does not know a comment that is there',
    rule: 'refused-for-a-reason',
    apply: (lines) => answer(lines, 'editComment', { e: 'fail', status: 404, code: 'COMMENT_NOT_FOUND' }),
  },
  {
    fault: 'does not know a notification that is there',
    rule: 'refused-for-a-reason',
    apply: (lines) => answer(lines, 'check', { e: 'fail', status: 404, code: 'NOTIFICATION_NOT_FOUND' }),
  },
  {
    fault: 'fails',
    rule: 'refused-for-a-reason',
    apply: (lines) => answer(lines, 'me', { e: 'info', reason: '500 INTERNAL_ERROR' }),
  },
];
