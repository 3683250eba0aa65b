import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTests, type TestRun } from './run-tests.js';

/** A copy of the build, to change one file at a time. */
export interface Sandbox {
  /**
   * Changes a file, runs tests until one fails, and restores the file.
   * @param file compiled file, from the project's root
   * @param text its changed text
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
  return {
    async run(file, text, tests, cpuSeconds) {
      const path = join(folder, file);
      const original = readFileSync(path);
      writeFileSync(path, text);
      try {
        return await runTests(folder, tests, cpuSeconds);
      } finally {
        writeFileSync(path, original);
      }
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
