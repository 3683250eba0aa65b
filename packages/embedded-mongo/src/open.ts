import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDataFolder, makePrivate, socketUri } from './folder/data-folder.js';
import { type Hold, holdOwner } from './folder/lock.js';

/** Longest time for a database to start, or to be restarted after it was lost, ms. */
const WAIT_MS = 15_000;
/** After serving this long, ms, a database counts as restored: the next loss is a new one. */
const STABLE_MS = 5000;
const PAUSE_MS = 100;

export interface OpenedMongo {
  /** Stays the same when another process serves the folder. */
  uri: string;
  /** Ends the use. If there is no other user, the database is ending when this resolves. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The database that clients of the connection string use unless they name another; `test` by default. */
  database?: string;
  /**
   * If given, a database that ends is restarted, whichever process had started it. Otherwise the next operation fails.
   */
  watcher?: Watcher | undefined;
}

/** What is opened: the data folder, the database's own folder in it, and the database that its log names. */
interface Place {
  dataDir: string;
  folder: string;
  database: string;
}

/** Called when the database is lost and restored. */
export interface Watcher {
  /** It has ended, and is being restarted. */
  onLost(): void;
  /** It serves again. */
  onBack(): void;
  /** It cannot be restarted. */
  onGone(error: Error): void;
}

/**
 * The embedded database of a data folder: connects to the process that serves it, or starts one. That process
 * has no owner: it ends when its last user has closed it or died.
 *
 * @throws Error of one line if it cannot be opened
 */
export async function openEmbeddedMongo(
  dataDir: string,
  { database = 'test', watcher }: OpenOptions = {},
): Promise<OpenedMongo> {
  const folder = makeDataFolder(dataDir);
  const place = { dataDir, folder, database };
  let hold = await holdOrStart(place, Date.now() + WAIT_MS);
  let closing = false;
  /** Reopens the database whenever it is lost, until its use ends or it cannot be opened. */
  async function watch({ onLost, onBack, onGone }: Watcher): Promise<void> {
    let giveUpAt = 0;
    let restoredAt = 0;
    for (await hold.lost; !closing; await hold.lost) {
      // Otherwise the previous loss has not ended.
      if (Date.now() - restoredAt > STABLE_MS) giveUpAt = Date.now() + WAIT_MS;
      onLost();
      try {
        hold = await reopen(place, giveUpAt);
      } catch (error) {
        if (!closing) onGone(error as Error);
        return;
      }
      if (closing) return;
      onBack();
      restoredAt = Date.now();
    }
  }
  const watching = watcher && watch(watcher);
  return {
    uri: socketUri(folder, database),
    async close() {
      closing = true;
      await hold.release();
      await watching;
      // The database may have been reopened meanwhile.
      await hold.release();
    },
  };
}

/** Reopens the folder, trying until `giveUpAt` (epoch ms). Never starts with an empty database instead. */
async function reopen(place: Place, giveUpAt: number): Promise<Hold> {
  for (;;) {
    if (!existsSync(join(place.folder, 'data.mdb'))) throw new Error(`the data of ${place.folder} is gone`);
    try {
      return await holdOrStart(place, giveUpAt);
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Connects to the process that serves the folder, or starts one; the lock admits one of several. */
async function holdOrStart(place: Place, deadline: number): Promise<Hold> {
  const { folder } = place;
  for (;;) {
    if (Date.now() > deadline) throw new Error(`the database of ${folder} does not stay up`);
    const joined = await holdOwner(folder);
    if (joined) return joined;
    const { child, failure } = await startChild(place);
    const hold = await holdOwner(folder);
    if (child.connected) child.disconnect();
    if (hold) return hold;
    if (failure) throw failure;
  }
}

/** Starts a server; resolves when it serves or has failed. Until it is disconnected, it waits for its first user. */
async function startChild({
  dataDir,
  database,
}: Place): Promise<{ child: ChildProcess; failure: Error | undefined }> {
  const log = openLog(dataDir);
  const args = ['--data-dir', dataDir, '--database', database];
  const child = fork(fileURLToPath(new URL('./main.js', import.meta.url)), args, {
    // It may outlive this process, so it must not keep its output open.
    stdio: ['ignore', log ?? 'ignore', log ?? 'ignore', 'ipc'],
    // Not the parent's, which may include an inspector's port or `--eval`.
    execArgv: ['--enable-source-maps'],
    // In its own session: Ctrl-C reaches its users, which finish their work first.
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  const failure = await new Promise<Error | undefined>((resolve) => {
    child.once('message', ({ type, message }: { type: string; message?: string }) =>
      resolve(type === 'ready' ? undefined : new Error(message)),
    );
    child.once('exit', (code, signal) => {
      const how = signal ?? code;
      resolve(new Error(`the embedded database ended at start (${how}); see ${logFile(dataDir)}`));
    });
    // It cannot be started.
    child.on('error', resolve);
  });
  child.unref();
  return { child, failure };
}

const logFile = (dataDir: string) => join(dataDir, 'logs', 'database.log');

/** The database's log; undefined if it cannot be opened, which must not prevent a start. */
function openLog(dataDir: string): number | undefined {
  try {
    makePrivate(join(dataDir, 'logs'));
    return openSync(logFile(dataDir), 'a');
  } catch {
    return undefined;
  }
}
