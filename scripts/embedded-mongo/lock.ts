import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

/** What /proc/PID/stat tells: when the process began, in the system's own ticks, and whether it has ended already. */
function processState(pid: number): { started: string; ended: boolean } {
  try {
    // Fields 3 (state) and 22 (starttime) of proc(5); the command name before them may hold spaces and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Where nothing reaps orphans (a container without init), the killed stay as zombies.
    return { started: fields[19] ?? '', ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    // No /proc on this system, or no such process: the signal has the say.
    return { started: '', ended: false };
  }
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const { started, ended } = processState(owner.pid);
  return !ended && (owner.started === '' || started === '' || started === owner.started);
}

/** The live process that serves a folder, if any. */
export function readOwner(folder: string): LockOwner | undefined {
  const owner = parseOwner(readLock(lockFile(folder)));
  return owner && isAlive(owner) ? owner : undefined;
}

function readLock(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parseOwner(text: string | undefined): LockOwner | undefined {
  try {
    const owner = JSON.parse(text ?? 'null') as LockOwner | null;
    return Number.isInteger(owner?.pid) ? (owner ?? undefined) : undefined;
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
  const mine: LockOwner = { pid: process.pid, started: processState(process.pid).started, port: 0 };
  const isMine = () => {
    const owner = parseOwner(readLock(file));
    return owner?.pid === mine.pid && owner.started === mine.started;
  };
  const deadline = Date.now() + waitMs;
  while (!tryTake(file, mine)) {
    const found = readLock(file);
    const owner = parseOwner(found);
    if (found !== undefined && !(owner && isAlive(owner))) removeStale(file, found);
    else if (owner && Date.now() > deadline)
      throw new Error(`${folder} is in use by process ${owner.pid}; stop it or choose another DATA_DIR`);
    else await sleep(POLL_MS);
  }
  return {
    publish(port) {
      if (!isMine()) throw new Error(`${folder} was taken by another process at the same moment`);
      writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...mine, port }));
      renameSync(`${file}.${process.pid}`, file);
    },
    release() {
      if (isMine()) rmSync(file, { force: true });
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

/** Moves a dead process's lock aside. If another process has replaced it meanwhile, its lock is put back. */
function removeStale(file: string, stale: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readLock(aside) !== stale) linkSync(aside, file);
  } catch {
    // Another process was first, or the owner has just released it.
  }
  rmSync(aside, { force: true });
}
