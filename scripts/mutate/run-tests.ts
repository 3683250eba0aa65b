import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestRun {
  /** False also if it was killed: a change that makes a test hang counts as caught. */
  passed: boolean;
  /** The end of mocha's output. */
  output: string;
  /** CPU time of mocha and of the child processes that it waited for, ms. On a busy machine it is the same. */
  cpuMs: number;
}

/** Longest output of mocha that is kept, characters. */
const OUTPUT_LIMIT = 4_000;

/** Longest duration, ms: as a change may leave a process waiting for ever, without a test of its own to time out. */
const TIMEOUT_MS = 600_000;

/** Names the run to all of its processes, also those that leave its process group. */
const RUN = 'MUTATE_RUN';

/** Runs its arguments, each process with at most $0 seconds of CPU time; prints the times at the end, as POSIX's `times` does. */
const TIMED = 'ulimit -t "$0"; "$@"; status=$?; times; exit "$status"';

/** The last line of `times`: user and system time of the children, as `0m1.250s 0m0.100s`. */
const TIMES = /^(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$(?![\s\S]*\S)/m;

function cpuMsOf(output: string): number {
  const [, ...parts] = TIMES.exec(output) ?? [];
  const [userMin = 0, userS = 0, systemMin = 0, systemS = 0] = parts.map(Number);
  return Math.round(60_000 * (userMin + systemMin) + 1_000 * (userS + systemS));
}

/**
 * Runs compiled test files in a mocha process, and stops at the first failure. Afterwards none of the processes that
 * the tests have started is left.
 *
 * @param root folder that contains `dist`
 * @param tests paths relative to it, in the order they run
 * @param cpuSeconds CPU time after which a process is killed, s
 */
export function runTests(
  root: string,
  tests: string[],
  cpuSeconds: number,
  env: NodeJS.ProcessEnv = {},
): Promise<TestRun> {
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const settings = ['--no-config', '--bail', '--exit', '--timeout', '60000'];
  const setup = ['--require', 'dist/test/support/setup.js'];
  const program = [process.execPath, mocha, ...settings, ...setup, ...tests];
  const run = randomUUID();
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', TIMED, String(cpuSeconds), ...program], {
      cwd: root,
      env: { ...process.env, ...env, [RUN]: run },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, to be killed as a whole.
      detached: true,
    });
    let output = '';
    const end = () => {
      killGroup(child.pid);
      killRun(run);
    };
    const timer = setTimeout(end, TIMEOUT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_LIMIT);
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      // Child processes left by a failed test hold the pipes open.
      end();
      child.once('close', () => resolve({ passed: code === 0, output, cpuMs: cpuMsOf(output) }));
    });
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) kill(-pid);
}

/** The environment of a process, where the system shows it (Linux: proc(5)); else empty, as for one that has ended. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** Kills what has left the process group, as pm2 and its services do. */
function killRun(run: string): void {
  const pids = () => (process.platform === 'linux' ? readdirSync('/proc').filter(Number) : []);
  const ofRun = () => pids().filter((pid) => environmentOf(pid).includes(`${RUN}=${run}`));
  // One that is killed may just have started another.
  for (let left = ofRun(); left.length > 0; left = ofRun()) for (const pid of left) kill(Number(pid));
}
