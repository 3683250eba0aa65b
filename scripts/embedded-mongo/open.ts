import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readOwner } from './lock.js';

/** How long a server has to come up, or one that is going has to go, in milliseconds. */
const WAIT_MS = 15_000;
/** A server that is asked to stop gets this long before it is killed. */
const STOP_MS = 5000;
const POLL_MS = 50;

export interface OpenedMongo {
  uri: string;
  /** Stops the server if this call started it; a server that was there already stays. */
  close(): Promise<void>;
}

/**
 * The embedded database of a data folder: joins the process that serves it, or starts one as a child. Rejects with
 * one readable line when it cannot be started.
 */
export async function openEmbeddedMongo(dataDir: string): Promise<OpenedMongo> {
  const folder = join(dataDir, 'mongo');
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const uri = await joinRunning(folder);
    if (uri) return { uri, close: async () => {} };
    const child = startChild(dataDir);
    // Two starters at once: the lock lets one child serve, and the other's parent joins that one.
    const other = joinOther(folder, child.process.pid);
    const outcome = await Promise.race([child.ready, other.found]);
    other.giveUp();
    if (outcome.kind === 'ready') return { uri: outcome.uri, close: () => stop(child.process) };
    await stop(child.process);
    if (outcome.kind === 'failed' && (!readOwner(folder) || Date.now() > deadline)) throw outcome.error;
  }
}

/** The address of a running server, when it answers. One that holds the lock but does not listen yet is waited for. */
async function joinRunning(folder: string): Promise<string | undefined> {
  const deadline = Date.now() + WAIT_MS / 3;
  while (existsSync(folder) && Date.now() < deadline) {
    const owner = readOwner(folder);
    if (!owner) return undefined;
    if (owner.port > 0 && (await answers(owner.port))) return `mongodb://127.0.0.1:${owner.port}/adoption`;
    await sleep(POLL_MS);
  }
  return undefined;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

type Outcome = { kind: 'ready'; uri: string } | { kind: 'failed'; error: Error } | { kind: 'other' };

/** Starts a server; `ready` never rejects. */
function startChild(dataDir: string): { process: ChildProcess; ready: Promise<Outcome> } {
  const child = fork(fileURLToPath(new URL('./main.js', import.meta.url)), ['--data-dir', dataDir], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    // Not the parent's: those may be an inspector's port or `--eval`.
    execArgv: ['--enable-source-maps'],
    // In a group of its own: Ctrl-C reaches the parent alone, which first finishes what it is doing.
    detached: true,
  });
  // What it says before it is ready becomes the error of the start; anything later is for the operator to read.
  let complaint = '';
  let starting = true;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (starting) complaint += text;
    else process.stderr.write(text);
  });
  const ready = new Promise<Outcome>((resolve) => {
    const fail = (message: string) => resolve({ kind: 'failed', error: new Error(message) });
    child.once('message', (message: { type: string; uri?: string; message?: string }) => {
      if (message.type === 'ready' && message.uri) resolve({ kind: 'ready', uri: message.uri });
      else fail(message.message ?? 'the embedded database failed');
    });
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) =>
      fail(complaint.trim() || `the embedded database ended at start (${signal ?? code})`),
    );
  });
  // Once it serves, neither the child nor its channel keeps a script alive that has nothing else to do.
  void ready.then(() => {
    starting = false;
    child.unref();
    child.channel?.unref();
    (child.stderr as Socket | null)?.unref();
  });
  return { process: child, ready };
}

/** Looks out for a server of the folder that is not this child. */
function joinOther(folder: string, pid: number | undefined): { found: Promise<Outcome>; giveUp(): void } {
  let given = false;
  const look = async (): Promise<Outcome> => {
    while (!given) {
      await sleep(POLL_MS);
      const owner = readOwner(folder);
      if (owner && owner.pid !== pid && owner.port > 0 && (await answers(owner.port)))
        return { kind: 'other' };
    }
    return { kind: 'other' };
  };
  return {
    found: look(),
    giveUp() {
      given = true;
    },
  };
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.ref();
    child.kill('SIGTERM');
  });
}
