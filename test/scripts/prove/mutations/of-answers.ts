import type { Header, HistoryLine } from '../../../../scripts/prove/history.js';
import { calls, events, type Mutation, the } from './edit-history.js';

const headerOf = (lines: HistoryLine[]) => lines[0] as Header;

/** Faults of what its name says, by the rule that finds them. */
export const answerMutations: Mutation[] = [
  {
    fault: 'shows another name of a sender',
    rule: 'answers-are-whole',
    apply(lines) {
      the(events(lines, 'message').at(-1)).rest = [
        { senderName: 'another', saleNo: 1, senderEmail: '1@example.org' },
      ];
    },
  },
  {
    fault: 'shows a member by another name than before',
    rule: 'answers-are-whole',
    apply(lines) {
      the(headerOf(lines).members[0]).nickname = 'another';
    },
  },
  {
    fault: 'shows a room with another title',
    rule: 'answers-are-whole',
    apply(lines) {
      the(headerOf(lines).rooms[0]).saleTitle = 'another';
    },
  },
  {
    fault: 'shows another text of an article',
    rule: 'answers-are-whole',
    apply(lines) {
      the(headerOf(lines).articles[0]).text = 'another';
    },
  },
  {
    fault: 'answers with another status',
    rule: 'answers-are-whole',
    apply(lines) {
      the(calls(lines, 'bookmark')[0]).ok.rest = [{ status: 201 }];
    },
  },
  {
    fault: 'answers with a field that is not documented',
    rule: 'answers-are-whole',
    apply(lines) {
      the(calls(lines, 'comment')[0]).ok.rest = [{ status: 200, id: 1 }];
    },
  },
];
