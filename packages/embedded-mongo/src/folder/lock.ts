import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { folderError } from './data-folder.js';
import { connectTo, socketPath } from './unix-socket.js';

/** Longest wait for a process that neither serves nor ends, ms. */
const WAIT_MS = 15_000;

/**
 * A folder belongs to the process that listens on the socket `owner.N` with the highest N. Whether it listens
 * is known to the kernel, across PID and network namespaces (containers that share the folder) and however
 * the process ends. A process takes N + 1 only after it found N dead, by a link, which fails if the name
 * exists: of several processes that try, one succeeds.
 */
const OWNER = /^owner\.(\d+)$/;

const ownerFile = (folder: string, number: number) => join(folder, `owner.${number}`);

/** The number in the name of an owner's socket; 0 for any other name. */
const ownerNumber = (name: string) => Number(OWNER.exec(name)?.[1] ?? 0);

/** The number of the folder's last owner, 0 if it never had one. */
const lastOwner = (folder: string) => Math.max(0, ...readdirSync(folder).map(ownerNumber));

/** The connection of a process that uses the database; the owner sees how many there are. */
export interface Hold {
  /** The owner's, in its own PID namespace. */
  pid: number;
  /** Resolves when this connection has ended, by the owner's end or by `release`. */
  lost: Promise<void>;
  /** Ends the use; resolves when the owner knows. Without other users the owner then ends. */
  release(): Promise<void>;
}

/**
 * Connects to the process that serves the folder, or waits for one that is starting. Undefined if there is
 * none. Rejects if it does not answer in time (a frozen process).
 */
export async function holdOwner(folder: string, waitMs = WAIT_MS): Promise<Hold | undefined> {
  const socket = await connectToOwner(folder);
  if (!socket) return undefined;
  const lost = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  const pid = await ownerPid(socket, folder, waitMs);
  if (pid === undefined) return undefined;
  // The connection alone does not keep the process running.
  socket.unref();
  return {
    pid,
    lost,
    release() {
      socket.ref();
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      socket.end();
      return lost;
    },
  };
}

async function connectToOwner(folder: string): Promise<Socket | undefined> {
  try {
    const number = lastOwner(folder);
    return number > 0 ? await connectTo(ownerFile(folder, number)) : undefined;
  } catch (error) {
    throw folderError(folder, error);
  }
}

/** The owner's pid, which it sends once it serves; undefined if it ends before that. */
function ownerPid(socket: Socket, folder: string, waitMs: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(waitMs, () => {
      reject(new Error(`${folder} is in use by a process that does not answer`));
      socket.destroy();
    });
    socket.once('data', (pid) => {
      socket.setTimeout(0);
      resolve(Number(pid));
    });
    socket.once('close', () => resolve(undefined));
  });
}

/** The ownership of a folder. */
export interface Lock {
  /** Announces to waiting and later users that the folder is served. */
  publish(): void;
  /** Number of processes that use it now, by `holdOwner`. */
  holders(): number;
  /** Called when one of them has left. */
  onLeave: () => void;
  /** Stops announcing; the folder is free after `release`. */
  withdraw(): void;
  release(): void;
}

/** Takes a folder for this process; waits for an owner that is ending. Rejects if another process serves it. */
export async function takeFolder(folder: string, waitMs = WAIT_MS): Promise<Lock> {
  for (;;) {
    const last = lastOwner(folder);
    const owner = await holdOwner(folder, waitMs);
    if (owner) {
      await owner.release();
      throw new Error(`${folder} is in use by process ${owner.pid}; stop it or choose another data folder`);
    }
    const lock = await claim(folder, last + 1);
    if (lock) return lock;
  }
}

/** Becomes owner NUMBER, whose predecessor is known to be dead; undefined if another process was first. */
async function claim(folder: string, number: number): Promise<Lock | undefined> {
  const { server, lock } = createLock();
  const own = join(folder, `new.${randomBytes(3).toString('hex')}`);
  await once(server.listen(socketPath(own)), 'listening');
  // A connection that cannot be accepted (no file descriptor left) concerns that process only.
  server.on('error', () => {});
  const isOurs = tryLink(own, ownerFile(folder, number));
  rmSync(own, { force: true });
  // The number may be free because a later owner has removed it: then there is a higher one.
  if (isOurs && lastOwner(folder) === number) {
    removeEarlier(folder, number);
    return lock;
  }
  if (isOurs) rmSync(ownerFile(folder, number), { force: true });
  lock.release();
  return undefined;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the sockets of earlier owners, all dead. */
function removeEarlier(folder: string, number: number): void {
  for (const name of readdirSync(folder))
    if (OWNER.test(name) && ownerNumber(name) < number) rmSync(join(folder, name), { force: true });
}

function createLock(): { server: Server; lock: Lock } {
  const holders = new Set<Socket>();
  let serving = false;
  const sendPid = (socket: Socket) => socket.write(`${process.pid}\n`);
  const server = createServer((socket) => {
    holders.add(socket);
    socket.resume();
    // 'close' follows.
    socket.on('error', () => {});
    const leave = () => {
      if (holders.delete(socket)) lock.onLeave();
    };
    // The holder is answered by this connection's end, after the owner has decided whether to stop.
    socket.on('end', leave);
    socket.on('close', leave);
    if (serving) sendPid(socket);
  });
  const lock: Lock = {
    publish() {
      serving = true;
      for (const socket of holders) sendPid(socket);
    },
    holders: () => holders.size,
    onLeave: () => {},
    withdraw() {
      serving = false;
    },
    release() {
      serving = false;
      server.close();
      for (const socket of holders) socket.destroy();
    },
  };
  return { server, lock };
}
