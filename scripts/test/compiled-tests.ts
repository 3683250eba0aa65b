import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../command/run-command.js';

/** The folder of a path's tests, that of the project or of one of its packages, and what follows. */
const TESTS = /^(packages\/[^/]+\/)?(test(?:\/.*)?)$/;

/** Whether a path is one of tests. */
export const isOfTests = (path: string): boolean => TESTS.test(path);

/** Mocha's argument for a path of the source. @throws UsageError when there is no such test */
export function compiledTests(root: string, path: string): string {
  const full = join(root, path);
  const [, packageFolder = '', rest] = TESTS.exec(path) ?? [];
  if (rest === undefined || !existsSync(full))
    throw new UsageError(`PATH: ${path} is not a test or a folder of tests`);
  const compiled = `${packageFolder}dist/${rest}`;
  return statSync(full).isDirectory() ? `${compiled}/**/*.test.js` : compiled.replace(/\.ts$/, '.js');
}
