import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { folderError } from './data-folder.js';
import { connectTo, listenOn } from './unix-socket.js';

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

/** The number of the folder's last owner, 0 if it never had one. */
function lastOwner(folder: string): number {
  try {
    return Math.max(0, ...readdirSync(folder).map((name) => Number(OWNER.exec(name)?.[1] ?? 0)));
  } catch (error) {
    throw folderError(folder, error);
  }
}

/** The connection of a process that uses the database; the owner sees how many there are. */
export interface Hold {
  /** The owner's, in its own PID namespace. */
  pid: number;
  /** Resolves when the owner has ended or closed this connection. */
  lost: Promise<void>;
  /** Ends the use; resolves when the owner has confirmed it or, if this was its last user, has ended. */
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
  const pid = await ownerPid(socket, waitMs);
  if (pid === undefined) {
    if (!socket.closed) {
      socket.destroy();
      throw new Error(`${folder} is in use by a process that does not answer`);
    }
    return undefined;
  }
  // The connection alone does not keep the process running.
  socket.unref();
  return {
    pid,
    lost,
    async release() {
      socket.ref();
      const timeout = setTimeout(() => socket.destroy(), WAIT_MS);
      socket.end();
      await lost;
      clearTimeout(timeout);
    },
  };
}

async function connectToOwner(folder: string): Promise<Socket | undefined> {
  const number = lastOwner(folder);
  try {
    return number > 0 ? await connectTo(ownerFile(folder, number)) : undefined;
  } catch (error) {
    throw folderError(folder, error);
  }
}

/** The owner's pid, which it sends once it serves; undefined if it ends before that, or does not answer in time. */
function ownerPid(socket: Socket, waitMs: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const timeout = setTimeout(() => resolve(undefined), waitMs);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.endsWith('\n')) return;
      clearTimeout(timeout);
      resolve(Number(text));
    });
    socket.once('close', () => {
      clearTimeout(timeout);
      resolve(undefined);
    });
  });
}

/** The ownership of a folder. */
export interface Lock {
  /** Announces to waiting and later users that the folder is served. */
  publish(): void;
  /** Number of processes that use it now, by `holdOwner`. */
  holders(): number;
  /** Called when one of them leaves; a clean leave is confirmed afterwards. */
  onLeave: () => Promise<void>;
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
      throw new Error(`${folder} is in use by process ${owner.pid}; stop it or choose another DATA_DIR`);
    }
    const lock = await claim(folder, last + 1);
    if (lock) return lock;
  }
}

/** Becomes owner NUMBER, whose predecessor is known to be dead; undefined if another process was first. */
async function claim(folder: string, number: number): Promise<Lock | undefined> {
  const { server, lock } = createLock();
  const own = join(folder, `new.${randomBytes(3).toString('hex')}`);
  await listenOn(server, own);
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
    if (Number(OWNER.exec(name)?.[1] ?? number) < number) rmSync(join(folder, name), { force: true });
}

function createLock(): { server: Server; lock: Lock } {
  const sockets = new Set<Socket>();
  const holders = new Set<Socket>();
  let serving = false;
  const sendPid = (socket: Socket) => socket.write(`${process.pid}\n`);
  const leave = async (socket: Socket): Promise<void> => {
    if (!holders.delete(socket)) return;
    await lock.onLeave();
    // If the process ends now, the connection ends with it.
    if (serving) socket.end();
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    holders.add(socket);
    socket.resume();
    // 'close' follows.
    socket.on('error', () => {});
    socket.on('end', () => void leave(socket));
    socket.on('close', () => {
      sockets.delete(socket);
      void leave(socket);
    });
    if (serving) sendPid(socket);
  });
  const lock: Lock = {
    publish() {
      serving = true;
      for (const socket of holders) sendPid(socket);
    },
    holders: () => holders.size,
    onLeave: async () => {},
    withdraw() {
      serving = false;
    },
    release() {
      serving = false;
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return { server, lock };
}
