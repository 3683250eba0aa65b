import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTests, type TestRun } from './run-tests.js';

/** A copy of the build, to change one file at a time. */
export interface Sandbox {
  /** The copy of `dist`. */
  readonly build: string;
  /**
   * Changes a file.
   * @param file compiled file, from the project's root
   * @returns a function that restores it
   */
  change(file: string, text: string): () => void;
  /**
   * Changes a file, runs tests until one fails, and restores the file.
   * @param cpuSeconds CPU time after which a process of the tests is killed, s
   */
  run(file: string, text: string, tests: string[], cpuSeconds: number): Promise<TestRun>;
  remove(): void;
}

/**
 * Creates a sandbox: a copy of `dist`, and links to all other files of the project.
 * @param root the built project's folder
 */
export function createSandbox(root: string, name: string): Sandbox {
  const folder = join(root, 'coverage', 'sandboxes', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(root)) {
    if (['dist', 'coverage', '.git', '.data'].includes(entry)) continue;
    symlinkSync(join(root, entry), join(folder, entry));
  }
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  function change(file: string, text: string): () => void {
    const path = join(folder, file);
    const original = readFileSync(path);
    writeFileSync(path, text);
    return () => writeFileSync(path, original);
  }
  return {
    build: join(folder, 'dist'),
    change,
    async run(file, text, tests, cpuSeconds) {
      const restore = change(file, text);
      try {
        return await runTests(folder, tests, cpuSeconds);
      } finally {
        restore();
      }
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
