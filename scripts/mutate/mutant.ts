import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import type { TestCoverage } from './coverage.js';
import { type Mutation, mutationsOf } from './mutations.js';

/** Identifies a change across builds, without its line number, which moves with the code. */
export interface ChangeKey {
  /** Source file, from the project's root. */
  file: string;
  /** The changed line's text, trimmed. */
  code: string;
  kind: string;
  /** Which of the changes of this kind to lines with this text in the file, from 1. */
  nth: number;
}

/** A change, its place in the source, and the tests that run that place. */
export interface Mutant extends Mutation, ChangeKey {
  /** Compiled file, from the project's root. */
  compiled: string;
  /** Line of the source, from 1. */
  line: number;
  /** Tests that run it, those that run most of the file per time first; the nearest first, if all that load the file run it. */
  tests: TestCoverage[];
}

/** Whether both are the same change. */
export function denotes(key: ChangeKey, { file, code, kind, nth }: ChangeKey): boolean {
  return key.file === file && key.code === code && key.kind === kind && key.nth === nth;
}

/** Number of folders and name parts that a test shares with a source file. */
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
 * @param compiled path from the project's root; its source map is in the same folder
 */
export function mutantsOf(root: string, compiled: string, coverages: TestCoverage[]): Mutant[] {
  const text = readFileSync(join(root, compiled), 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(join(root, `${compiled}.map`), 'utf8')));
  const file = compiled.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  const source = readFileSync(join(root, file), 'utf8').split('\n');
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const ranked = coverages.map((coverage) => ({
    coverage,
    near: nearness(coverage.test, compiled),
    worth: (share(coverage, compiled, text.length) + nearness(coverage.test, compiled)) / coverage.ms,
  }));
  ranked.sort((a, b) => b.worth - a.worth);
  const loading = ranked.filter(({ coverage }) => compiled in coverage.covered);
  // What runs when the file is loaded, such as a constant, is run by tests that have nothing to do with it.
  const nearestFirst = [...loading].sort((a, b) => b.near - a.near);
  const testsOf = (at: number) => {
    const covering = loading.filter(({ coverage }) => covers(coverage, compiled, at));
    const ordered = covering.length === loading.length ? nearestFirst : covering;
    return ordered.map(({ coverage }) => coverage);
  };
  const counts = new Map<string, number>();
  return mutationsOf(compiled, text).map((mutation) => {
    const row = lineStarts.findLastIndex((start) => start <= mutation.start);
    const entry = map.findEntry(row, mutation.start - (lineStarts[row] ?? 0));
    const line = 'originalLine' in entry ? entry.originalLine + 1 : 0;
    const code = source[line - 1]?.trim() ?? '';
    const alike = `${mutation.kind}\n${code}`;
    const nth = (counts.get(alike) ?? 0) + 1;
    counts.set(alike, nth);
    return {
      ...mutation,
      ...{ compiled, file, line, code, nth },
      tests: testsOf(mutation.start),
    };
  });
}

/** The text of its compiled file with the change. */
export function changedText(root: string, { compiled, start, end, replacement }: Mutant): string {
  const text = readFileSync(join(root, compiled), 'utf8');
  return text.slice(0, start) + replacement + text.slice(end);
}
