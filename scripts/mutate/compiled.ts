import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../command/run-command.js';

/** Compiled files under a folder of `dist`, from the project's root. */
function compiledUnder(root: string, folder: string): string[] {
  return readdirSync(join(root, 'dist', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join('dist', folder, name))
    .sort();
}

/** The compiled file of a source file, both from the project's root. */
export const compiledName = (path: string) => join('dist', path.replace(/\.ts$/, '.js'));

/**
 * The compiled files of a path of the source or of the tests.
 * @param argument its name in messages
 * @throws UsageError when there is none
 */
export function compiledOf(root: string, path: string, argument: string): string[] {
  try {
    if (path.endsWith('.ts')) {
      const compiled = compiledName(path);
      readFileSync(join(root, compiled));
      return [compiled];
    }
    return compiledUnder(root, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(`${argument}: ${path} is no file or folder of this project`);
  }
}
