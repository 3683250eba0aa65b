import { styleText } from 'node:util';
import type { Finding } from './check.js';

const COLOURS = { ok: 'green', warning: 'yellow', failure: 'red', skipped: 'gray' } as const;

/** Columns of the result and of the check's name. */
const [RESULT_WIDTH, NAME_WIDTH] = [8, 20];

/** A finding as one line. @param isColoured for a terminal */
export function lineOf({ result, check, text, remedy }: Finding, isColoured: boolean): string {
  const word = result.padEnd(RESULT_WIDTH);
  const shown = isColoured ? styleText(COLOURS[result], word) : word;
  // An error's message may have several lines.
  const words = (remedy ? `${text} → ${remedy}` : text).replace(/\s*\n\s*/g, ' ');
  return `${shown} ${check.padEnd(NAME_WIDTH)} ${words}`;
}

/** How many findings have each result. */
export function countResults(findings: Finding[]): Record<Finding['result'], number> {
  const counts = { failure: 0, warning: 0, skipped: 0, ok: 0 };
  for (const { result } of findings) counts[result] += 1;
  return counts;
}

/** The last line. */
export function summaryOf(findings: Finding[]): string {
  const { failure, warning, skipped, ok } = countResults(findings);
  const words = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
  return `${words(failure, 'failure')}, ${words(warning, 'warning')}, ${skipped} skipped, ${ok} ok`;
}
