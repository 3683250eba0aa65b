import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engineSetting } from './engine.js';

/** A program of the project in a process of its own, which can be ended and started again. */
export interface TestProcess {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  /** Its stdout and stderr, over all its starts. */
  readonly log: string;
  /** Log lines of level error and above. */
  errors(): string[];
  /** Log lines of level warn. */
  warnings(): string[];
  /** Starts it (again). Resolves to its message that it is ready; rejects with its log if it ends before. */
  start(env?: Record<string, string>): Promise<unknown>;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and resolves to the exit status, null when the signal ended it. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves to its exit status once it has ended. */
  readonly gone: Promise<number | null>;
}

export interface Program {
  name: string;
  /** The compiled program, by its path from the project's folder or its address. */
  path: string;
  args?: string[];
  /** Folder of another compiled build; by default the one of the tests. */
  build?: string | undefined;
  /** Working folder. */
  folder: string;
  /** Its whole environment, PATH aside. */
  env: Record<string, string>;
  /** How many files it may have open; by default what the tests may. */
  files?: number | undefined;
  /** @returns whether a message of the program says that it is ready; by default its first does */
  isReady?: (message: unknown) => boolean;
}

/** Ends a process with the tests at the latest, also when the hook that started it failed halfway. */
export function endWithTests(child: ChildProcess): void {
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
}

/** Address of a compiled module, by its path from the project's folder or its own address. */
export const compiled = (path: string): URL => new URL(path, new URL('../../', import.meta.url));

const PRELOAD = compiled('scripts/command/child-preload.js').href;

/** Collects what a process prints. */
function collectOutput(child: ChildProcess): { text: string } {
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output.text += text;
    });
  }
  return output;
}

/** A process that is not started yet. */
export function createTestProcess(program: Program): TestProcess {
  const { name, path, build, args = [], folder, env, files, isReady = () => true } = program;
  const module = build === undefined ? fileURLToPath(compiled(path)) : join(build, path);
  // Most live for seconds: V8's optimising compiler would use more CPU time than it saves.
  const flags = ['--no-opt', '--import', PRELOAD];
  let child: ChildProcess | undefined;
  let gone: Promise<number | null> = Promise.resolve(null);
  const outputs: { text: string }[] = [];

  async function start(more: Record<string, string> = {}): Promise<unknown> {
    const started = fork(module, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...engineSetting, ...env, ...more },
      ...(files === undefined
        ? { execArgv: flags }
        : {
            execPath: '/bin/sh',
            execArgv: ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...flags],
          }),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    const output = collectOutput(started);
    outputs.push(output);
    gone = once(started, 'close').then(([status]) => status as number | null);
    return new Promise((resolve, reject) => {
      started.on('message', (message) => {
        if (isReady(message)) resolve(message);
      });
      void gone.then((status) =>
        reject(new Error(`${name} ended with status ${status}:\n${output.text.slice(-1_000)}`)),
      );
    });
  }

  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const log = () => outputs.map(({ text }) => text).join('');
  const logged = (level: RegExp) =>
    log()
      .split('\n')
      .filter((line) => level.test(line));

  return {
    name,
    get pid() {
      return child?.pid as number;
    },
    get running() {
      return running();
    },
    get log() {
      return log();
    },
    errors: () => logged(/"level":"(?:error|fatal)"/),
    warnings: () => logged(/"level":"warn"/),
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

/** A program that has ended. */
export interface ProgramRun {
  status: number | null;
  /** Its stdout and stderr. */
  output: string;
}

/** Starts a program that does not report to its parent. After 3 min it is killed. */
export function startProgram({ path, args = [], folder, env }: Omit<Program, 'name'>) {
  const child = spawn(process.execPath, [fileURLToPath(compiled(path)), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...engineSetting, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
    killSignal: 'SIGKILL',
  });
  return { child, output: collectOutput(child) };
}

/** Runs a program to its end. */
export async function runProgram(program: Omit<Program, 'name'>): Promise<ProgramRun> {
  const { child, output } = startProgram(program);
  // Not `close`: a daemon that it started may hold its output.
  const [status] = await once(child, 'exit');
  return { status, output: output.text };
}
