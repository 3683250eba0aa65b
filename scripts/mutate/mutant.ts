import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import type { TestCoverage } from './coverage.js';
import { type Mutation, mutationsOf } from './mutations.js';

/** A change, where it stands in the source, and the tests that run that place. */
export interface Mutant extends Mutation {
  /** Compiled file, from the project's root. */
  compiled: string;
  /** Source file, from the project's root. */
  file: string;
  /** Line of the source, from 1. */
  line: number;
  /** That line's text. */
  code: string;
  /** Tests that run it: first those that tell most for their time. */
  tests: TestCoverage[];
}

/** How many folders and name parts a test shares with a source file: `chat/messages/ledger` is near `chat/ledger.test`. */
function nearness(test: string, compiled: string): number {
  const words = (path: string) => new Set(path.replace(/(\.test)?\.js$/, '').split(/[/.-]/));
  const own = words(compiled);
  return [...words(test)].filter((word) => own.has(word)).length;
}

/** Tenths of a file that a test runs. */
function share({ covered }: TestCoverage, compiled: string, length: number): number {
  const bytes = (covered[compiled] ?? []).reduce(
    (sum, [start, end]) => sum + Math.min(end, length) - start,
    0,
  );
  return Math.round((10 * bytes) / length);
}

function covers(coverage: TestCoverage, compiled: string, at: number): boolean {
  return coverage.covered[compiled]?.some(([start, end]) => start <= at && at < end) ?? false;
}

/**
 * All mutants of a compiled file.
 * @param compiled path from the project's root, with a source map beside it
 */
export function mutantsOf(root: string, compiled: string, coverages: TestCoverage[]): Mutant[] {
  const text = readFileSync(join(root, compiled), 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(join(root, `${compiled}.map`), 'utf8')));
  const file = compiled.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  const source = readFileSync(join(root, file), 'utf8').split('\n');
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const ranked = coverages.map((coverage) => ({
    coverage,
    worth: (share(coverage, compiled, text.length) + nearness(coverage.test, compiled)) / coverage.ms,
  }));
  ranked.sort((a, b) => b.worth - a.worth);
  const ordered = ranked.map(({ coverage }) => coverage);
  return mutationsOf(compiled, text).map((mutation) => {
    const row = lineStarts.findLastIndex((start) => start <= mutation.start);
    const entry = map.findEntry(row, mutation.start - (lineStarts[row] ?? 0));
    const line = 'originalLine' in entry ? entry.originalLine + 1 : 0;
    return {
      ...mutation,
      ...{ compiled, file, line, code: source[line - 1]?.trim() ?? '' },
      tests: ordered.filter((coverage) => covers(coverage, compiled, mutation.start)),
    };
  });
}
