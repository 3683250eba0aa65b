import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface TestRun {
  /** False also if it was killed: a change that makes a test hang counts as caught. */
  passed: boolean;
  /** The end of mocha's output. */
  output: string;
}

/** Longest output of mocha that is kept, characters. */
const OUTPUT_LIMIT = 4_000;

/**
 * Runs compiled test files in a mocha process, and stops at the first failure.
 *
 * @param root folder that contains `dist`
 * @param tests paths relative to it, in the order they run
 * @param timeoutMs time after which the process and its children are killed, ms
 */
export function runTests(
  root: string,
  tests: string[],
  timeoutMs: number,
  env: NodeJS.ProcessEnv = {},
): Promise<TestRun> {
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const settings = ['--no-config', '--bail', '--exit', '--timeout', '60000'];
  const setup = ['--require', 'dist/test/support/setup.js'];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [mocha, ...settings, ...setup, ...tests], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group: child processes of the tests must not outlive a time-out.
      detached: true,
    });
    let output = '';
    const timer = setTimeout(() => killGroup(child.pid), timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_LIMIT);
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      // Child processes left by a failed test.
      killGroup(child.pid);
      resolve({ passed: code === 0, output });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
