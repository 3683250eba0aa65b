import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTests } from './run-tests.js';

/** The compiled code that a test file runs. */
export interface TestCoverage {
  /** Path of the compiled test file, from the project's root. */
  test: string;
  /** CPU time, ms. */
  ms: number;
  /** Content hash of each compiled file that it loads, itself included. */
  hashes: Record<string, string>;
  /** By compiled file: the parts it runs, as [start, end) offsets, ascending. */
  covered: Record<string, [start: number, end: number][]>;
}

interface V8Range {
  startOffset: number;
  endOffset: number;
  count: number;
}

interface V8Report {
  result: { url: string; functions: { ranges: V8Range[] }[] }[];
}

/** CPU time that a process of a test file may take, s. */
const CPU_SECONDS = 600;

const hashOf = (path: string) => createHash('sha1').update(readFileSync(path)).digest('hex');

/** Marks what ran. V8's ranges are nested: the innermost one around an offset has its count. */
function mark(runs: Uint8Array, functions: V8Report['result'][number]['functions']): void {
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  const mine = new Uint8Array(runs.length);
  for (const { startOffset, endOffset, count } of ranges)
    mine.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  for (let i = 0; i < runs.length; i += 1) runs[i] = (runs[i] ?? 0) | (mine[i] ?? 0);
}

function intervals(runs: Uint8Array): [number, number][] {
  const found: [number, number][] = [];
  for (let start = runs.indexOf(1); start >= 0; ) {
    const end = runs.indexOf(0, start);
    found.push([start, end < 0 ? runs.length : end]);
    start = end < 0 ? -1 : runs.indexOf(1, end);
  }
  return found;
}

/** The report of a process; empty if it was killed while writing. */
function readReport(path: string): V8Report['result'] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as V8Report).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Reads the coverage written by a test file's processes, child processes included, or by those of a run of prove. */
export function readReports(root: string, folder: string): Pick<TestCoverage, 'hashes' | 'covered'> {
  const runs = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of readReport(join(folder, name))) {
      if (!url.startsWith('file:')) continue;
      const path = relative(root, fileURLToPath(url));
      if (!path.startsWith('dist')) continue;
      let known = runs.get(path);
      if (!known) {
        known = new Uint8Array(readFileSync(join(root, path), 'utf8').length);
        runs.set(path, known);
      }
      mark(known, functions);
    }
  }
  const paths = [...runs.keys()];
  return {
    hashes: Object.fromEntries(paths.map((path) => [path, hashOf(join(root, path))])),
    covered: Object.fromEntries([...runs].map(([path, bytes]) => [path, intervals(bytes)])),
  };
}

/** Files that a compiled file names by relative path: imports, and scripts that it starts. */
function namedBy(root: string, path: string): string[] {
  return [...readFileSync(join(root, path), 'utf8').matchAll(/['"](\.{1,2}\/[^'"\n]+\.js)['"]/g)]
    .map(([, name]) => join(dirname(path), name as string))
    .filter((named) => existsSync(join(root, named)));
}

/**
 * Updates an earlier measurement: a source file that has changed since counts as run in full by the tests
 * that loaded it, and so do the files it names that they did not load: it may use them now. Undefined if the
 * test, or its support code, has changed.
 */
function updated(root: string, coverage: TestCoverage): TestCoverage | undefined {
  const { hashes } = coverage;
  const exists = (path: string) => existsSync(join(root, path));
  const changed = Object.keys(hashes).filter(
    (path) => !exists(path) || hashOf(join(root, path)) !== hashes[path],
  );
  if (changed.some((path) => path.startsWith('dist/test/'))) return undefined;
  // The set grows during the iteration: files named by a new file are new, too.
  const whole = new Set(changed);
  for (const path of whole) {
    if (!exists(path)) continue;
    for (const named of namedBy(root, path)) if (!(named in hashes)) whole.add(named);
  }
  const all = [...whole].map((path) => [path, [[0, Number.POSITIVE_INFINITY]]] as const);
  return { ...coverage, covered: { ...coverage.covered, ...Object.fromEntries(all) } } as TestCoverage;
}

function readCached(file: string): TestCoverage | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestCoverage;
  } catch {
    // Not measured yet, or interrupted.
    return undefined;
  }
}

/** Attempts of a test file to pass without any change: on a busy machine one may fail. */
const ATTEMPTS = 2;

async function measure(root: string, test: string, attempt = 1): Promise<TestCoverage> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-coverage-'));
  try {
    const env = { NODE_V8_COVERAGE: folder };
    const { passed, output, cpuMs: ms } = await runTests(root, [test], CPU_SECONDS, env);
    if (passed) return { test, ms, ...readReports(root, folder) };
    if (attempt === ATTEMPTS) throw new Error(`${test} fails without any change:\n${output}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return measure(root, test, attempt + 1);
}

/**
 * Measures what each test file runs, with V8 (NODE_V8_COVERAGE). Processes ended by SIGKILL write nothing.
 * Measurements are cached in `coverage/mutate/` and repeated only for tests that have changed.
 *
 * @param root the built project's folder
 * @param tests compiled test files, relative to it
 * @param jobs files measured at the same time
 * @param isFresh measure all of them again
 * @param done called after each file
 * @throws Error when a test file fails without any change
 */
export async function measureCoverage(
  root: string,
  tests: string[],
  jobs: number,
  isFresh: boolean,
  done: (test: string) => void,
): Promise<TestCoverage[]> {
  const cache = join(root, 'coverage', 'mutate');
  mkdirSync(cache, { recursive: true });
  const queue = [...tests];
  const measured: TestCoverage[] = [];

  async function work(): Promise<void> {
    for (let test = queue.shift(); test; test = queue.shift()) {
      const file = join(cache, `${test.replaceAll('/', '.')}.json`);
      const cached = isFresh ? undefined : readCached(file);
      let coverage = cached && updated(root, cached);
      if (!coverage) {
        coverage = await measure(root, test);
        writeFileSync(file, JSON.stringify(coverage));
      }
      measured.push(coverage);
      done(test);
    }
  }

  await Promise.all(Array.from({ length: jobs }, work));
  return measured;
}
