import type { HistoryLine } from '../history.js';
import { checkLine } from './line-schema.js';

/**
 * Parses the lines of a history; empty ones are left out.
 * @throws Error naming the number of a line that is none
 */
export async function* readLines(
  lines: AsyncIterable<string>,
): AsyncGenerator<{ line: HistoryLine; number: number }> {
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    let line: HistoryLine;
    try {
      line = checkLine(JSON.parse(text));
    } catch (error) {
      throw new Error(`line ${number}: ${(error as Error).message}`, { cause: error });
    }
    yield { line, number };
  }
}
