import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Folders whose tests start several processes each: too slow to run for a change elsewhere. */
const SLOW = /^test\/(?:e2e|hostile|scripts\/load)\//;

function git(root: string, ...args: string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** Paths from the root of files that differ from a commit, new ones included. */
function changedFiles(root: string, base: string): string[] {
  return [
    ...git(root, 'diff', '--name-only', base, '--'),
    ...git(root, 'ls-files', '--others', '--exclude-standard'),
  ];
}

/** Paths from the root of the source files that a file imports directly. */
function importsOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)\.js'/g)].map(
    ([, path]) => `${relative(root, join(root, dirname(file), path as string))}.ts`,
  );
}

/** The source of a package, and what follows. */
const PACKAGE = /^(packages\/[^/]+)\/src\b/;

/**
 * The nearest folder of tests that mirrors a source file: test/http/chat for http/chat/chat.routes.ts, and
 * packages/NAME/test/query for packages/NAME/src/query/filter.ts.
 */
function mirrorOf(root: string, file: string): string | undefined {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    const mirror = PACKAGE.test(folder) ? folder.replace(PACKAGE, '$1/test') : `test/${folder}`;
    if (existsSync(join(root, mirror))) return mirror;
  }
  return undefined;
}

/** Test files under a folder, as paths from the root; none if there is no such folder. */
function testsUnder(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

/** The folders with tests: the project's own, and those of its packages. */
function testFolders(root: string): string[] {
  const packages = join(root, 'packages');
  const names = existsSync(packages) ? readdirSync(packages) : [];
  return ['test', ...names.map((name) => join('packages', name, 'test'))];
}

/**
 * The tests affected by a change: changed tests, tests that import a changed file directly, tests in the
 * folder that mirrors it, and the architecture tests.
 *
 * @param base commit to compare the working tree with
 * @returns test files as paths from the root
 */
export function changedTests(root: string, base: string): string[] {
  const tests = testFolders(root).flatMap((folder) => testsUnder(root, folder));
  const changed = new Set(changedFiles(root, base).filter((file) => file.endsWith('.ts')));
  if (changed.size === 0) return [];
  const mirrors = new Set([...changed].map((file) => mirrorOf(root, file)));
  const touched = (test: string) =>
    importsOf(root, test).some((file) => changed.has(file)) ||
    mirrors.has(dirname(test)) ||
    test.startsWith('test/architecture/');
  return tests.filter((test) => changed.has(test) || (!SLOW.test(test) && touched(test)));
}
