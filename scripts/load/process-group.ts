import { type ChildProcess, fork, spawn } from 'node:child_process';
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Time for a process to start, and to exit after SIGTERM before it is killed, ms. */
const START_MS = 30_000;
const STOP_MS = 10_000;

/** Where compiled scripts are. */
const SCRIPTS = fileURLToPath(new URL('..', import.meta.url));

/** Characters of stderr that are kept for error messages. */
const STDERR_LENGTH = 8_000;

export interface ForkOptions {
  args?: string[];
  /** The whole environment except PATH, NODE_EXTRA_CA_CERTS and NODE_V8_COVERAGE. */
  env?: Record<string, string>;
  execArgv?: string[];
  /** Writes a CPU profile if the load test is run with `--profile`. */
  measured?: boolean;
}

/** A process started for a run. */
export class ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  #stderr = '';
  #lastRequest = 0;

  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.pid = child.pid as number;
    // Each pending request listens.
    child.setMaxListeners(0);
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_LENGTH);
    });
    // A failed start shows in the missing pid.
    child.on('error', () => {});
  }

  get stderr(): string {
    return this.#stderr.trim();
  }

  get exited(): boolean {
    const { exitCode, signalCode, pid } = this.#child;
    return exitCode !== null || signalCode !== null || pid === undefined;
  }

  /** The first message that matches. @throws Error with stderr if the process exits first or time is up */
  async message<T>(matches: (message: T) => boolean = () => true, timeoutMs = START_MS): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      if (!this.exited)
        for await (const [message] of on(this.#child, 'message', { signal, close: ['exit'] }))
          if (matches(message)) return message;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    const outcome = signal.aborted ? `did not answer within ${timeoutMs} ms` : 'exited';
    throw new Error(`${this.name} ${outcome}: ${this.stderr}`);
  }

  /**
   * Sends a command to a child of worker-process.ts.
   * @param seconds the command's intended duration; a minute more is allowed
   * @throws Error with the message of the failure there
   */
  async request<T>(command: object, seconds = 0): Promise<T> {
    this.#lastRequest += 1;
    const id = this.#lastRequest;
    const reply = this.message<{ id?: number; value: T; error?: string }>(
      (message) => message.id === id,
      seconds * 1_000 + 60_000,
    );
    this.#child.send({ id, command });
    const { value, error } = await reply;
    if (error !== undefined) throw new Error(`${this.name}: ${error}`);
    return value;
  }

  /** Resolves once `probe` resolves to true. @throws Error with stderr if the process exits or time is up */
  async waitUntil(probe: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await probe())) {
      if (this.exited || Date.now() > deadline) throw new Error(`${this.name} did not start: ${this.stderr}`);
      await sleep(50);
    }
  }

  /** Resolves with the status when the process exits by itself. */
  exit(): Promise<number | null> {
    // Not events.once: it rejects on 'error', which a message to a process that has just exited emits.
    return new Promise((resolve) => this.#child.once('exit', resolve));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends the process by a signal. Resolves to its exit status, null if the signal ended it. */
  async kill(signal: NodeJS.Signals): Promise<number | null> {
    if (this.exited) return this.#child.exitCode;
    const exit = this.exit();
    this.#child.kill(signal);
    return exit;
  }

  /** Ends the process. Resolves when it has exited. */
  async stop(): Promise<void> {
    if (this.exited) return;
    const exit = this.exit();
    this.#child.kill('SIGTERM');
    // One that a fault has stopped ends only then.
    this.#child.kill('SIGCONT');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(kill);
  }
}

/** Nothing is started any more: the group has been ended, as by an interrupt. */
export class GroupEnded extends Error {}

const groups = new Set<ProcessGroup>();

/** Ends every group when a run is interrupted. @returns how many processes and folders there were */
export async function endAllGroups(): Promise<{ processes: number; folders: number }> {
  const open = [...groups];
  const processes = open.reduce((count, group) => count + group.running, 0);
  await Promise.all(open.map((group) => group.end()));
  return { processes, folders: open.length };
}

/** The processes of one run and its temporary folder. */
export class ProcessGroup {
  readonly folder: string;
  /** Folder for CPU profiles of the measured processes. */
  readonly profile: string | undefined;
  readonly #processes: ManagedProcess[] = [];
  #ending: Promise<void> | undefined;

  /** @param command what starts it, in the folder's name */
  constructor(profile?: string, command = 'load') {
    this.folder = mkdtempSync(join(tmpdir(), `adoption-${command}-`));
    // Its processes run in that folder.
    this.profile = profile && resolve(profile);
    groups.add(this);
  }

  /** Starts a compiled module with an IPC channel. @param module its path, absolute or from scripts/ @throws GroupEnded */
  fork(
    name: string,
    module: string,
    { args = [], env = {}, execArgv = [], measured = false }: ForkOptions = {},
  ): ManagedProcess {
    this.requireOpen();
    const child = fork(resolve(SCRIPTS, module), args, {
      ...this.#spawnOptions(env),
      execArgv: measured ? [...execArgv, ...this.#profileFlags(name)] : execArgv,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    return this.#add(name, child);
  }

  /** Starts another program. @throws GroupEnded */
  spawn(name: string, program: string, args: string[]): ManagedProcess {
    this.requireOpen();
    const child = spawn(program, args, { ...this.#spawnOptions(), stdio: ['ignore', 'ignore', 'pipe'] });
    return this.#add(name, child);
  }

  /** Starts a module that calls `reportReady`. @returns its process, and its port if it listens */
  async start(module: string, options?: ForkOptions): Promise<{ process: ManagedProcess; port: number }> {
    const process = this.fork(basename(module), `load/${module}.js`, options);
    const { port } = await process.message<{ port: number }>();
    return { process, port };
  }

  /** How many of its processes have not exited. */
  get running(): number {
    return this.#processes.filter(({ exited }) => !exited).length;
  }

  /**
   * Ends all processes and removes the folder.
   * @param signal SIGTERM: one after another, each in order; SIGKILL: all at once
   */
  end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#ending ??= this.#end(signal);
    return this.#ending;
  }

  /** @throws GroupEnded */
  requireOpen(): void {
    if (this.#ending) throw new GroupEnded('the run has been ended');
  }

  #profileFlags(name: string): string[] {
    if (!this.profile) return [];
    const file = `${name}-${process.hrtime.bigint()}.cpuprofile`;
    return ['--cpu-prof', `--cpu-prof-dir=${this.profile}`, `--cpu-prof-name=${file}`];
  }

  /** `detached`: Ctrl-C reaches only the command, which then stops its processes in order. */
  #spawnOptions(env: Record<string, string> = {}) {
    const { PATH, NODE_EXTRA_CA_CERTS: file, NODE_V8_COVERAGE: coverage } = process.env;
    const paths = {
      ...(file && { NODE_EXTRA_CA_CERTS: resolve(file) }),
      ...(coverage && { NODE_V8_COVERAGE: resolve(coverage) }),
    };
    return { cwd: this.folder, env: { PATH, ...paths, ...env }, detached: true };
  }

  #add(name: string, child: ChildProcess): ManagedProcess {
    const added = new ManagedProcess(name, child);
    this.#processes.push(added);
    return added;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (signal === 'SIGKILL') await Promise.all(this.#processes.map((process) => process.kill(signal)));
    // The last one first: a service stops before its database.
    else for (const process of this.#processes.reverse()) await process.stop();
    // Again if a killed process's last write comes in between.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    groups.delete(this);
  }
}
