import type { ChangeKey, Mutant } from './mutant.js';

/** `caught`: a test failed or never ended. `gone`: it survived an earlier run, and its line no longer exists. */
export type Verdict = 'caught' | 'survived' | 'gone';

export interface Result extends ChangeKey {
  line: number;
  verdict: Verdict;
  /** Number of tests that reach it, and how many of these were run. */
  tests: { covering: number; run: number };
}

export function resultOf(mutant: Mutant, caught: boolean, run: number): Result {
  const { file, line, code, kind, nth, tests } = mutant;
  return {
    ...{ file, line, code, kind, nth, tests: { covering: tests.length, run } },
    verdict: caught ? 'caught' : 'survived',
  };
}

const percent = (part: number, whole: number) =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;

function line({ file, line, code, kind, nth, tests }: Result): string {
  const which = nth > 1 ? ` (number ${nth})` : '';
  const reach = tests.covering === 0 ? 'no test runs it' : `${tests.run} of ${tests.covering} test files ran`;
  return `${file}:${line}  ${kind}${which}  (${reach})\n    ${code}`;
}

/** The report: survivors, gone ones, and a table by file. */
export function report(results: Result[], seed: number): string {
  const of = (verdict: Verdict) => results.filter((one) => one.verdict === verdict);
  const gone = of('gone');
  const tried = results.length - gone.length;
  const files = [
    ...new Set(results.filter(({ verdict }) => verdict !== 'gone').map(({ file }) => file)),
  ].sort();
  const width = Math.max(4, ...files.map(({ length }) => length));
  const rows = files.map((file) => {
    const mine = results.filter((one) => one.file === file);
    const count = (verdict: Verdict) => mine.filter((one) => one.verdict === verdict).length;
    const counts = [count('caught'), count('survived')];
    return `${file.padEnd(width)}  ${counts.map((number) => String(number).padStart(12)).join('')}`;
  });
  return [
    ...(of('survived').length > 0 ? ['Survived:', ...of('survived').map(line), ''] : []),
    ...(gone.length > 0
      ? ['Gone (survived before; the line has changed since):', ...gone.map(line), '']
      : []),
    `${'file'.padEnd(width)}  ${['caught', 'survived'].map((name) => name.padStart(12)).join('')}`,
    ...rows,
    '',
    `seed ${seed}: ${of('caught').length} of ${tried} caught (${percent(of('caught').length, tried)}), ` +
      `${of('survived').length} survived` +
      (gone.length > 0 ? `, ${gone.length} gone` : ''),
  ].join('\n');
}
