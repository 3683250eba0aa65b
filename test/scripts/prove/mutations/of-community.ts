import type { Fail, HistoryLine, Ok, OperationName } from '../../../../scripts/prove/history.js';
import { calls, inTraffic, type Mutation, the, timeOf } from './edit-history.js';

/** The readings of the article that has comments and hearts. */
const readings = (lines: HistoryLine[]) => calls(lines, 'article').filter(({ asked }) => asked.article === 1);

const lastArticle = (lines: HistoryLine[]) => the(readings(lines).at(-1)).ok;

/** Leaves an acknowledged comment out of a list. */
function loseComment(lines: HistoryLine[], lists: ReturnType<typeof calls<'comments'>>): void {
  const { ok, asked } = the(lists.at(-1));
  const acked = calls(lines, 'comment').filter((one) => one.ok.t < asked.t);
  const contents = new Set(acked.map((one) => one.asked.content));
  const lost = the(ok.comments.findLast(({ content }) => contents.has(content)));
  ok.comments.splice(ok.comments.indexOf(lost), 1);
}

/** Has the last refusal of a kind succeed. */
function accept(lines: HistoryLine[], f: OperationName, answer: object): void {
  const ops = new Set(lines.flatMap((line) => (line.e === 'invoke' && line.f === f ? [line.op] : [])));
  const quiet = timeOf(lines, 'quiet');
  const at = lines.findLastIndex((line) => line.e === 'fail' && line.t < quiet && ops.has(line.op));
  const { t, op } = the(lines[at]) as Fail;
  lines[at] = { e: 'ok', t, op, f, ...answer } as Ok;
}

/** Faults of what its name says, by the rule that finds them. */
export const communityMutations: Mutation[] = [
  {
    fault: 'loses a comment',
    rule: 'comments-are-kept',
    apply: (lines) => loseComment(lines, calls(lines, 'comments')),
  },
  {
    fault: 'leaves a comment out of a list while others are written',
    rule: 'comments-are-kept',
    apply: (lines) => loseComment(lines, inTraffic(lines, calls(lines, 'comments'))),
  },
  {
    fault: 'counts a comment too many',
    rule: 'counters-are-records',
    apply(lines) {
      lastArticle(lines).comments += 1;
    },
  },
  {
    fault: 'counts fewer comments than are acknowledged while others are written',
    rule: 'counters-are-records',
    apply(lines) {
      the(inTraffic(lines, readings(lines)).at(-1)).ok.comments = 0;
    },
  },
  {
    fault: 'counts a heart too many',
    rule: 'hearts-are-counted',
    apply(lines) {
      lastArticle(lines).likes += 1;
    },
  },
  {
    fault: 'counts a heart too few while others are given',
    rule: 'hearts-are-counted',
    apply(lines) {
      the(inTraffic(lines, readings(lines)).at(-1)).ok.likes -= 1;
    },
  },
  {
    fault: 'answers a heart without counting it',
    rule: 'hearts-are-counted',
    apply(lines) {
      the(calls(lines, 'heart').at(-1)).ok.count -= 1;
    },
  },
  {
    fault: 'accepts a second heart',
    rule: 'hearts-are-counted',
    apply: (lines) => accept(lines, 'heart', { count: 1 }),
  },
  {
    fault: 'forgets a bookmark',
    rule: 'bookmarks-are-kept',
    apply: (lines) => accept(lines, 'bookmark', {}),
  },
];
