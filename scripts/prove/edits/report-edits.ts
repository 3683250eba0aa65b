import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { seededRandom } from '../../mutate/random.js';
import { readLines } from '../check/read-lines.js';
import type { HistoryLine } from '../history.js';
import { judgeEdits } from './judge-edits.js';

/**
 * Judges copies of a kept history with one random edit each, and prints those in which no rule finds anything.
 * @param file a history in which nothing is broken
 * @returns the exit status: 1 if any was missed
 */
export async function reportEdits(file: string, count: number, seed: number): Promise<number> {
  const lines: HistoryLine[] = [];
  for await (const { line } of readLines(createInterface({ input: createReadStream(file) })))
    lines.push(line);
  let missed = 0;
  for (const { what, line, found } of judgeEdits(lines, count, seededRandom(seed))) {
    if (found.length > 0) continue;
    missed += 1;
    process.stdout.write(`line ${line}: ${what}\n`);
  }
  process.stdout.write(`${count - missed} of ${count} edits found, seed ${seed}\n`);
  return missed > 0 ? 1 : 0;
}
