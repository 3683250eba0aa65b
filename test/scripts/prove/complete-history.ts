import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { HistoryLine, Invoke, Ok, SeenMessage } from '../../../scripts/prove/history.js';

export function readHistory(path: string): HistoryLine[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export const linesOf = <E extends HistoryLine['e']>(history: HistoryLine[], e: E) =>
  history.filter((line): line is Extract<HistoryLine, { e: E }> => line.e === e);

/** Checks the form of a complete history, and that what was acknowledged is in the rooms read at the end. */
export function expectComplete(history: HistoryLine[]): void {
  const times = history.map(({ t }) => t);
  expect(times).to.deep.equal([...times].sort((a, b) => a - b));
  expect(history[0]).to.include({ e: 'header', format: 2, node: process.version });
  expect(linesOf(history, 'phase').map(({ phase }) => phase)).to.deep.equal([
    'traffic',
    'quiet',
    'final',
    'end',
  ]);
  const invoked = new Map(linesOf(history, 'invoke').map((line) => [line.op, line]));
  const outcomes = history.flatMap((line) => ('op' in line && line.e !== 'invoke' ? [line.op] : []));
  expect(new Set(outcomes).size, 'outcomes of each operation').to.equal(outcomes.length);
  expect([...invoked.keys()].filter((op) => !outcomes.includes(op))).to.deep.equal([]);

  const { t: end } = linesOf(history, 'phase').find(({ phase }) => phase === 'final') as { t: number };
  const read = new Set<string>();
  for (const line of linesOf(history, 'ok')) {
    const { t, room } = invoked.get(line.op) as Invoke & { room: number };
    if (line.f !== 'join' || t < end) continue;
    for (const { content } of (line as Ok & { messages: SeenMessage[] }).messages)
      read.add(`${room} ${content}`);
  }
  const acked = linesOf(history, 'ok').flatMap(({ f, op }) => {
    const { room, content } = invoked.get(op) as Invoke & { room: number; content: string };
    return f === 'send' ? [`${room} ${content}`] : [];
  });
  expect(acked).to.not.be.empty;
  expect(acked.filter((message) => !read.has(message))).to.deep.equal([]);
}
