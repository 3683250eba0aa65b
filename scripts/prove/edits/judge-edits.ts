import { Judge } from '../check/judge.js';
import { checkLine } from '../check/line-schema.js';
import type { HistoryLine } from '../history.js';
import { type Below, type Edit, pick, type Source, sourceOf } from './edit.js';
import { dropEvent, exchangeAnswers, misdirectEvent, repeatEvent, swapEvents } from './events.js';
import { editField, editList } from './fields.js';

/** An edit and the rules that found it; none: it was missed. */
export interface JudgedEdit extends Omit<Edit, 'lines'> {
  found: string[];
}

type Draw = (source: Source, indexes: number[], below: Below) => Edit | undefined;

/** Kinds of edits, one as likely as another, and what they change. */
const KINDS: [of: 'answers' | 'events', draw: Draw][] = [
  ['answers', editField],
  ['answers', editList],
  ['answers', exchangeAnswers],
  ['events', editField],
  ['events', dropEvent],
  ['events', repeatEvent],
  ['events', swapEvents],
  ['events', misdirectEvent],
];

/** Draws that are given up before a history counts as one with nothing to edit. */
const ATTEMPTS = 10_000;

/** Events that may be lost, late and sent twice. */
const UNCERTAIN = /^socket (?:typing|drain)$/;

/** An edit drawn at random. @throws Error if there is none */
function drawEdit(source: Source, below: Below): Edit {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const [of, draw] = pick(KINDS, below) as (typeof KINDS)[number];
    const names = [...source[of].keys()].filter((name) => !UNCERTAIN.test(name));
    const indexes = source[of].get(pick(names, below) ?? '');
    const edit = indexes && draw(source, indexes, below);
    if (edit) return edit;
  }
  throw new Error('the history has nothing to edit');
}

/** The rules that a history breaks; `shape` if a line of it is none. */
function brokenBy(lines: readonly HistoryLine[]): string[] {
  const judge = new Judge();
  for (const line of lines) {
    try {
      judge.read(checkLine(line));
    } catch {
      return ['shape'];
    }
  }
  return Object.keys(judge.end().broken);
}

/**
 * Judges a history with one edit after another.
 * @param lines of a history in which nothing is broken
 */
export function* judgeEdits(
  lines: readonly HistoryLine[],
  count: number,
  below: Below,
): Generator<JudgedEdit> {
  const source = sourceOf(lines);
  for (let i = 0; i < count; i += 1) {
    const { what, line, lines: edited } = drawEdit(source, below);
    yield { what, line, found: brokenBy(edited) };
  }
}
