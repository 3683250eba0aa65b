import type { Mutant } from './mutant.js';

/** `caught`: a test failed or never ended. `equivalent`: it survived, and nobody can notice it. */
export type Verdict = 'caught' | 'survived' | 'equivalent';

export interface Result {
  file: string;
  line: number;
  code: string;
  kind: string;
  verdict: Verdict;
  /** Why nobody can notice it. */
  why?: string;
  /** How many tests ran it, and how many of these the time allowed. */
  tests: { covering: number; run: number };
}

/** A change that was looked at and found to change nothing that anybody can notice. */
export interface Equivalent {
  file: string;
  /** The changed line, trimmed: it moves with the code. */
  code: string;
  kind: string;
  why: string;
}

export function resultOf(mutant: Mutant, caught: boolean, run: number, known: Equivalent[]): Result {
  const { file, line, code, kind, tests } = mutant;
  const equivalent = known.find((one) => one.file === file && one.code === code && one.kind === kind);
  return {
    ...{ file, line, code, kind, tests: { covering: tests.length, run } },
    verdict: caught ? 'caught' : equivalent ? 'equivalent' : 'survived',
    ...(!caught && equivalent ? { why: equivalent.why } : {}),
  };
}

const percent = (part: number, whole: number) =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;

function line({ file, line, code, kind, tests, why }: Result): string {
  const reach = tests.covering === 0 ? 'no test runs it' : `${tests.run} of ${tests.covering} test files ran`;
  return `${file}:${line}  ${kind}  (${reach})\n    ${code}${why ? `\n    ${why}` : ''}`;
}

/** The report: survivors with their lines, the equivalent ones with their reasons, then a table by file. */
export function report(results: Result[], seed: number): string {
  const of = (verdict: Verdict) => results.filter((one) => one.verdict === verdict);
  const files = [...new Set(results.map(({ file }) => file))].sort();
  const width = Math.max(4, ...files.map(({ length }) => length));
  const rows = files.map((file) => {
    const mine = results.filter((one) => one.file === file);
    const count = (verdict: Verdict) => mine.filter((one) => one.verdict === verdict).length;
    const counts = [count('caught'), count('survived'), count('equivalent')];
    return `${file.padEnd(width)}  ${counts.map((number) => String(number).padStart(12)).join('')}`;
  });
  const counted = results.length - of('equivalent').length;
  return [
    ...(of('survived').length > 0 ? ['Survived:', ...of('survived').map(line), ''] : []),
    ...(of('equivalent').length > 0 ? ['Equivalent:', ...of('equivalent').map(line), ''] : []),
    `${'file'.padEnd(width)}  ${['caught', 'survived', 'equivalent'].map((name) => name.padStart(12)).join('')}`,
    ...rows,
    '',
    `seed ${seed}: ${of('caught').length} of ${counted} caught (${percent(of('caught').length, counted)}), ` +
      `${of('survived').length} survived, ${of('equivalent').length} equivalent`,
  ].join('\n');
}
