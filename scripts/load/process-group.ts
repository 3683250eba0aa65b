import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Time, in ms, a process has to come up, and one that is asked to end has to go. */
const START_MS = 30_000;
const STOP_MS = 10_000;

export interface ForkOptions {
  args?: string[];
  /** All of its environment beside PATH. */
  env?: Record<string, string>;
  execArgv?: string[];
}

/** A process on the stage. */
export interface Actor {
  name: string;
  child: ChildProcess;
  pid: number;
  /** What it wrote to stderr. */
  stderr(): string;
  /** Ends it now; resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Everything that one run starts: processes and a folder, all gone once it has ended. */
export interface ProcessGroup {
  /** A folder of this run's own. */
  folder: string;
  /** Where processes that are measured leave a CPU profile, if that is wanted. */
  profile: string | undefined;
  /** Starts a compiled module, named from scripts/, with an IPC channel. */
  fork(name: string, module: string, options?: ForkOptions): Actor;
  /** Starts another program. */
  spawn(name: string, program: string, args: string[]): Actor;
  /** Adds something to be done before the processes end. */
  onEnd(task: () => Promise<void> | void): void;
  end(): Promise<void>;
}

const open = new Set<ProcessGroup>();

/** Ends every stage that is open: for a load test that is interrupted. */
export async function endAllGroups(): Promise<void> {
  await Promise.all([...open].map((stage) => stage.end()));
}

function createActor(name: string, child: ChildProcess): Actor {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-8_000);
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    name,
    child,
    pid: child.pid as number,
    stderr: () => text.trim(),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await gone;
      clearTimeout(late);
    },
  };
}

/** @param profile folder for CPU profiles of what is measured */
export function createProcessGroup(profile?: string): ProcessGroup {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-load-'));
  const actors: Actor[] = [];
  const tasks: (() => Promise<void> | void)[] = [];
  let ending: Promise<void> | undefined;

  function add(actor: Actor): Actor {
    actors.push(actor);
    return actor;
  }

  async function endNow(): Promise<void> {
    for (const task of tasks.reverse()) await task();
    // The last first: a service stops before its database.
    for (const actor of actors.reverse()) await actor.stop();
    rmSync(folder, { recursive: true, force: true });
    open.delete(stage);
  }

  const stage: ProcessGroup = {
    folder,
    profile,
    fork(name, module, { args = [], env = {}, execArgv = [] } = {}) {
      const child = fork(fileURLToPath(new URL(`../${module}`, import.meta.url)), args, {
        cwd: folder,
        env: { PATH: process.env.PATH, ...env },
        execArgv,
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        // In a group of its own: Ctrl-C reaches the load test alone, which then ends all in order.
        detached: true,
      });
      return add(createActor(name, child));
    },
    spawn(name, program, args) {
      const child = spawn(program, args, {
        cwd: folder,
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      return add(createActor(name, child));
    },
    onEnd(task) {
      tasks.push(task);
    },
    end() {
      ending ??= endNow();
      return ending;
    },
  };
  open.add(stage);
  return stage;
}

/** Resolves to the first message of a process that fits. @throws Error with what it wrote, when it ends before */
export async function messageOf<T>(
  actor: Actor,
  fits: (message: unknown) => boolean,
  waitMs = START_MS,
): Promise<T> {
  const { child, name } = actor;
  return new Promise<T>((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
    };
    const onMessage = (message: unknown) => {
      if (!fits(message)) return;
      settle();
      resolve(message as T);
    };
    const onExit = () => {
      settle();
      reject(new Error(`${name} has ended: ${actor.stderr()}`));
    };
    const timer = setTimeout(() => {
      settle();
      reject(new Error(`${name} did not answer in ${waitMs} ms: ${actor.stderr()}`));
    }, waitMs);
    child.on('message', onMessage);
    child.once('exit', onExit);
    if (child.exitCode !== null || child.pid === undefined) onExit();
  });
}

/** Resolves when `ready` does; tried again until then. @throws what it rejects with, when time is up */
export async function until(what: string, ready: () => Promise<boolean>, actor?: Actor): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    if (await ready()) return;
    const ended = actor && (actor.child.exitCode !== null || actor.child.pid === undefined);
    if (ended || Date.now() > deadline) {
      throw new Error(`${what} did not come up: ${actor?.stderr() ?? 'no answer'}`);
    }
    await sleep(50);
  }
}

/** A port of loopback that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
