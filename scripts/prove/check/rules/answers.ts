import { readingOf, readingOfEvent } from '../../answers/index.js';
import { canonical, differences, type Rest, shortHash } from '../../answers/rest.js';
import { at, type Rule } from '../rule.js';

/** Differences that a violation prints. */
const MAX_PRINTED = 5;

/** @returns what is wrong with the rest of an answer or event */
function faultOf(rest: string | Rest | undefined, expected: Rest): string | undefined {
  const text = canonical(expected);
  if (typeof rest !== 'string') {
    const found = differences(rest ?? [], expected);
    if (found.length === 0) return undefined;
    const more = found.length > MAX_PRINTED ? ` and ${found.length - MAX_PRINTED} more` : '';
    return found.slice(0, MAX_PRINTED).join('; ') + more;
  }
  return rest === shortHash(text)
    ? undefined
    : `its hash is ${rest}, and must be ${shortHash(text)}: ${text}`;
}

export const wholeAnswers: Rule = {
  name: 'answers-are-whole',
  says: 'Answers and events have the fields of the interface, no others, each as the members, rooms and articles are',
  source: 'docs/interface.md; gateway/PROTOCOL.md',
  watch(run, report) {
    const { world } = run;
    return {
      answered(ok, asked) {
        const { f, client, t } = asked;
        const fault = faultOf(ok.rest, readingOf(f).rest({ world, ...asked }, ok));
        if (fault) report(`${f} by ${client}, asked at ${at(t)}: ${fault}`);
      },
      delivered(delivery) {
        const { door, event, client } = delivery;
        const expected = readingOfEvent(door, event).rest({ world, ...delivery }, delivery);
        const fault = faultOf(delivery.rest, expected);
        if (fault) report(`${event} to the ${door} of ${client}: ${fault}`);
      },
    };
  },
};
