import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../command/run-command.js';

/** Mocha's argument for a path of the source. @throws UsageError when there is no such test */
export function compiledTests(root: string, path: string): string {
  const full = join(root, path);
  if (!path.startsWith('test') || !existsSync(full))
    throw new UsageError(`PATH: ${path} is not a test or a folder of tests`);
  return statSync(full).isDirectory() ? `dist/${path}/**/*.test.js` : `dist/${path.replace(/\.ts$/, '.js')}`;
}
