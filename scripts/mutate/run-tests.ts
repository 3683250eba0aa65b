import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface TestRun {
  passed: boolean;
  /** True when it had to be ended: a change that makes a test wait for ever is noticed, too. */
  timedOut: boolean;
  /** The last characters of what mocha printed. */
  output: string;
}

/** Characters of mocha's output that are kept. */
const OUTPUT_LIMIT = 4_000;

/**
 * Runs compiled test files in one mocha process of their own, and stops at the first failure.
 *
 * @param root folder that holds `dist`
 * @param tests paths from there, in the order in which they run
 * @param timeoutMs after that the process and its children are killed
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
      // A process group of its own: tests start processes that must not outlive a time-out.
      detached: true,
    });
    let output = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_LIMIT);
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      // What a failed test has left behind.
      killGroup(child.pid);
      resolve({ passed: code === 0 && !timedOut, timedOut, output });
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
