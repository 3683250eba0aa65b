import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of the project's as a process of its own, which can be ended and started again. */
export interface TestProcess {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  /** Everything it has written to stdout and stderr, over all its lives. */
  readonly log: string;
  /** Log lines of level error and above. */
  errors(): string[];
  /** Starts it (again) and resolves when it says that it is ready; rejects with its log if it ends before. */
  start(env?: Record<string, string>): Promise<unknown>;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and resolves to its exit status, null when the signal ended it. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves to its exit status once it has ended. */
  readonly gone: Promise<number | null>;
}

/**
 * Ends a process at the latest with the tests that started it: a `before` that failed half-way has nobody
 * who knows what it started.
 */
export function endWithTests(child: ChildProcess): void {
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
}

/** Address of a compiled module of the project. */
export const compiled = (path: string): URL => new URL(`../../${path}`, import.meta.url);

const PRELOAD = new URL('./child-of-cluster.js', import.meta.url).href;

/**
 * @param path of the compiled program, from the project's folder
 * @param folder its working folder
 * @param isReady which of its messages says that it is ready
 */
export function createTestProcess(
  name: string,
  path: string,
  args: string[],
  folder: string,
  env: Record<string, string>,
  isReady: (message: unknown) => boolean,
): TestProcess {
  let child: ChildProcess | undefined;
  let gone: Promise<number | null> = Promise.resolve(null);
  let log = '';

  async function start(more: Record<string, string> = {}): Promise<unknown> {
    const started = fork(fileURLToPath(compiled(path)), args, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env, ...more },
      execArgv: ['--enable-source-maps', '--import', PRELOAD],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    for (const output of [started.stdout, started.stderr]) {
      output?.on('data', (chunk) => {
        log += chunk;
      });
    }
    gone = once(started, 'close').then(([status]) => status as number | null);
    return new Promise((resolve, reject) => {
      started.on('message', (message) => {
        if (isReady(message)) resolve(message);
      });
      void gone.then((status) =>
        reject(new Error(`${name} ended with status ${status}:\n${log.slice(-1_000)}`)),
      );
    });
  }

  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  return {
    name,
    get pid() {
      return child?.pid as number;
    },
    get running() {
      return running();
    },
    get log() {
      return log;
    },
    errors: () => log.split('\n').filter((line) => /"level":[56]0/.test(line)),
    start,
    signal: (signal) => {
      child?.kill(signal);
    },
    async kill(signal = 'SIGKILL') {
      if (running()) child?.kill(signal);
      return gone;
    },
    get gone() {
      return gone;
    },
  };
}
