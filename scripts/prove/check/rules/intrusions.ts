import { answersTo } from '../../intrusions.js';
import { type Asked, at, type Rule } from '../rule.js';

/** What a process answers that has no time, or a member who asks too often. */
const FOR_NOW = new Set([429, 503]);

export const refusals: Rule = {
  name: 'others-are-refused',
  says: 'Rooms, notifications, comments and articles of others, and what does not exist, are refused as documented; so are calls without the member’s token',
  source: 'docs/contract.md, sections 2 to 6; gateway/PROTOCOL.md',
  watch(run, report) {
    function check({ call, manner, on, member, client, t }: Asked<'intrude'>, answer: string): void {
      const expected = answersTo(call, manner);
      if (expected.includes(answer)) run.coverage.refused(call, manner);
      else
        report(
          `${client} of member ${member} tries ${call} ${on} (${manner}), asked at ${at(t)}: answered ${answer}; it is ${expected.join(' or ')}`,
        );
    }
    return {
      answered(_, asked) {
        if (asked.f === 'intrude') check(asked, '200');
      },
      unanswered(outcome, asked) {
        if (asked.f !== 'intrude' || outcome.e === 'info' || FOR_NOW.has(outcome.status)) return;
        check(asked, `${outcome.status} ${outcome.code}`);
      },
    };
  },
};
