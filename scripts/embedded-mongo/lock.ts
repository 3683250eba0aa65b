import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a folder that another process is just leaving is waited for, in milliseconds. */
const WAIT_MS = 5000;
const POLL_MS = 50;

/** What the lock file says of the process that serves the folder. */
export interface LockOwner {
  pid: number;
  /** Start time of the process, where the system tells it: a pid alone may have been given to another program. */
  started: string;
  /** 0 until the server listens. */
  port: number;
}

export interface Lock {
  /** Writes the port into the lock file, for those who want to join. */
  publish(port: number): void;
  release(): void;
}

function lockFile(folder: string): string {
  return join(folder, 'lock.json');
}

/** When a process began, in the system's own ticks; empty where /proc does not exist or the process is gone. */
function startOf(pid: number): string {
  try {
    // Field 22 of /proc/PID/stat (proc(5)); the command name before it may hold spaces and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = startOf(owner.pid);
  return owner.started === '' || started === '' || started === owner.started;
}

/** The live process that serves a folder, if any. */
export function readOwner(folder: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readFileSync(lockFile(folder), 'utf8')) as LockOwner;
    return Number.isInteger(owner.pid) && isAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Takes a folder for this process. A lock of a dead process is taken over; one of a process that is about to die is
 * waited for. Rejects when another process goes on holding it.
 */
export async function acquireLock(folder: string, waitMs = WAIT_MS): Promise<Lock> {
  const file = lockFile(folder);
  const mine: LockOwner = { pid: process.pid, started: startOf(process.pid), port: 0 };
  const deadline = Date.now() + waitMs;
  for (;;) {
    if (tryTake(file, mine)) break;
    const owner = readOwner(folder);
    if (!owner) {
      removeStale(file);
      continue;
    }
    if (Date.now() > deadline)
      throw new Error(`${folder} is in use by process ${owner.pid}; stop it or choose another DATA_DIR`);
    await sleep(POLL_MS);
  }
  return {
    publish(port) {
      writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...mine, port }));
      renameSync(`${file}.${process.pid}`, file);
    },
    release() {
      rmSync(file, { force: true });
    },
  };
}

/** Makes the lock file with its content in one step: a link fails when the name is there already. */
function tryTake(file: string, owner: LockOwner): boolean {
  const own = `${file}.${randomUUID()}`;
  writeFileSync(own, JSON.stringify(owner));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Moves a dead process's lock aside. Of two processes that try, the rename lets only one go on with that file. */
function removeStale(file: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    statSync(file);
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch {
    // Another process was first, or the owner has just released it.
  }
}
