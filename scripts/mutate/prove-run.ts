import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Verdict } from '../prove/check/judge.js';

/** What a run of `npm run prove` says of a build. */
export type ProveOutcome =
  | { outcome: 'broken'; rules: string[] }
  | { outcome: 'holds' | 'unknown'; missing: string[] }
  /** There was no verdict: a process did not start, nothing could be read at the end, or the run did not end. */
  | { outcome: 'not done'; why: string };

/** Longest time of a run, ms, on a busy machine; and of its end, once it is told to end. */
const LONGEST_MS = 300_000;
const END_MS = 30_000;

export interface ProveRun {
  /** The compiled command. */
  script: string;
  /** Its options: size, time, faults, seed. */
  args: string[];
  /** Where it keeps its history. */
  log: string;
  /** Folder of the compiled service. */
  build: string;
  env?: NodeJS.ProcessEnv;
}

/** Proves a build, until the first promise is broken. */
export async function proveBuild({ script, args, log, build, env = {} }: ProveRun): Promise<ProveOutcome> {
  const own = ['--fail-fast', '--json', '--log', log, '--build', build];
  const child = spawn(process.execPath, [script, ...args, ...own], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const isLate = setTimeout(() => child.kill('SIGTERM'), LONGEST_MS);
  const isStuck = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS + END_MS);
  // An interrupt of the command ends its runs.
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  await once(child, 'close');
  process.off('exit', end);
  clearTimeout(isLate);
  clearTimeout(isStuck);
  if (stdout === '') {
    const [last = 'no verdict'] = stderr
      .trim()
      .split('\n')
      .filter((line) => !NOISE.test(line))
      .slice(-1);
    return { outcome: 'not done', why: last };
  }
  const { outcome, broken, missing } = JSON.parse(stdout) as Verdict;
  return outcome === 'broken' ? { outcome, rules: Object.keys(broken) } : { outcome, missing };
}

/** Lines of the command that say nothing of why it came to no verdict. */
const NOISE = /^the (?:installation is stopped|history is kept)/;
