import { readingOf, readingOfEvent } from '../../../scripts/prove/answers/index.js';
import { condense } from '../../../scripts/prove/answers/rest.js';
import { World } from '../../../scripts/prove/answers/world.js';
import type { Header, HistoryLine, Invoke } from '../../../scripts/prove/history.js';

/** Members of a history, as its header names them. */
export const membersOf = (numbers: number[]): Header['members'] =>
  numbers.map((no) => ({
    ...{ no, nickname: `member ${no}`, email: `${no}@example.org`, picture: `/${no}.jpg` },
  }));

/** The article 1, as a header names it. */
export const articleOf = (author: number): Header['articles'][0] => ({
  ...{ article: 1, author, title: 'one', text: 'Bori', images: [{ no: 1, url: '/1.jpg' }] },
});

/** Adds to each answer and event the hash of the rest that it must have. */
export function withRests(lines: HistoryLine[]): HistoryLine[] {
  const world = new World();
  const asked = new Map<number, Invoke>();
  return lines.map((line) => {
    if (line.e === 'header') world.open(line);
    if (line.e === 'invoke') asked.set(line.op, line);
    const add = (rest: unknown[]) => ({ ...line, rest: condense(rest, rest) }) as HistoryLine;
    if (line.e === 'delivery')
      return add(readingOfEvent(line.door, line.event).rest({ world, ...line }, line));
    const invoke = line.e === 'ok' ? asked.get(line.op) : undefined;
    return line.e === 'ok' && invoke ? add(readingOf(line.f).rest({ world, ...invoke }, line)) : line;
  });
}
