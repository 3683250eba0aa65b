import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDataFolder, socketUri } from './folder/data-folder.js';
import { type Hold, holdOwner } from './folder/lock.js';

/** How long a database may take to come up, and a lost one to come back, in milliseconds. */
const WAIT_MS = 15_000;
/** One that served this long, in milliseconds, has come back: the next loss is another one. */
const STABLE_MS = 5000;
const PAUSE_MS = 100;

export interface OpenedMongo {
  /** Stays the same when another process serves the folder. */
  uri: string;
  /** Lets go of it. Without another user the database has ended when this resolves. */
  close(): Promise<void>;
}

/** What a user of the database is told while it uses it. */
export interface Watcher {
  /** It is gone, and being started again. */
  onLost(): void;
  /** It serves again. */
  onBack(): void;
  /** It cannot be had again. */
  onGone(error: Error): void;
}

/**
 * The embedded database of a data folder: joins the process that serves it, or starts one. That process belongs to
 * nobody: it ends when its last user has let go of it or died. Rejects with one readable line when it cannot be had.
 *
 * @param watcher with it, a database that ends is started again, whoever had started it; without, its loss is left
 *   to be noticed by the operation that fails
 */
export async function openEmbeddedMongo(dataDir: string, watcher?: Watcher): Promise<OpenedMongo> {
  const folder = makeDataFolder(dataDir);
  const use: Use = { hold: await holdOrStart(dataDir, folder, Date.now() + WAIT_MS), closing: false };
  const watching = watcher ? watch(use, watcher, (giveUpAt) => reopen(dataDir, folder, giveUpAt)) : undefined;
  return {
    uri: socketUri(folder),
    async close() {
      use.closing = true;
      await use.hold.letGo();
      await watching;
      // What was opened again meanwhile.
      await use.hold.letGo();
    },
  };
}

interface Use {
  hold: Hold;
  closing: boolean;
}

/** Opens a database again whenever it is lost, until the use ends or it cannot be had. */
async function watch(
  use: Use,
  { onLost, onBack, onGone }: Watcher,
  openAgain: (giveUpAt: number) => Promise<Hold>,
): Promise<void> {
  let giveUpAt = 0;
  for (let since = Date.now(); ; since = Date.now()) {
    await use.hold.lost;
    if (use.closing) return;
    if (isNewLoss(since, giveUpAt)) giveUpAt = Date.now() + WAIT_MS;
    onLost();
    const found = await openAgain(giveUpAt).catch((error: Error) => error);
    if (!(found instanceof Error)) use.hold = found;
    if (use.closing) return;
    if (found instanceof Error) return onGone(found);
    onBack();
  }
}

/** Whether a database that served since a moment is lost anew, rather than again after a failed return. */
const isNewLoss = (since: number, giveUpAt: number) => Date.now() - since > STABLE_MS || giveUpAt === 0;

/** Has the folder served again, trying until a moment (epoch ms). An empty database in its place would be a lie. */
async function reopen(dataDir: string, folder: string, giveUpAt: number): Promise<Hold> {
  for (;;) {
    if (!existsSync(join(folder, 'data.mdb'))) throw new Error(`the data of ${folder} is gone`);
    try {
      return await holdOrStart(dataDir, folder, giveUpAt);
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Joins the process that serves the folder, or starts one: of several started at once, the lock lets one serve. */
async function holdOrStart(dataDir: string, folder: string, deadline: number): Promise<Hold> {
  for (;;) {
    if (Date.now() > deadline) throw new Error(`the database of ${folder} does not stay up`);
    const joined = await holdOwner(folder);
    if (joined) return joined;
    const { child, failure } = await startChild(dataDir);
    const hold = await holdOwner(folder);
    if (child.connected) child.disconnect();
    if (hold) return hold;
    if (failure) throw failure;
  }
}

/** Starts a server; resolves when it serves or has failed. Until it is disconnected, it waits for its first user. */
async function startChild(dataDir: string): Promise<{ child: ChildProcess; failure?: Error }> {
  const log = openLog(dataDir);
  const child = fork(fileURLToPath(new URL('./main.js', import.meta.url)), ['--data-dir', dataDir], {
    // It outlives this process where others use it, whose output it must not keep open.
    stdio: ['ignore', log ?? 'ignore', log ?? 'ignore', 'ipc'],
    // Not the parent's: those may be an inspector's port or `--eval`.
    execArgv: ['--enable-source-maps'],
    // In a session of its own: Ctrl-C reaches its users, which first finish what they are doing.
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  const events = new AbortController();
  const said = once(child, 'message', events).then(([message]) => {
    const { type, message: reason } = message as { type: string; message?: string };
    return type === 'ready' ? undefined : new Error(reason ?? 'the embedded database failed');
  });
  const ended = once(child, 'exit', events).then(
    ([code, signal]) =>
      new Error(`the embedded database ended at start (${signal ?? code}); see ${logFile(dataDir)}`),
  );
  try {
    const failure = await Promise.race([said, ended]);
    return failure ? { child, failure } : { child };
  } catch (error) {
    // `once` rejects when there is no process to start.
    return { child, failure: error as Error };
  } finally {
    events.abort();
    child.unref();
  }
}

const logFile = (dataDir: string) => join(dataDir, 'logs', 'database.log');

/** Where the database's own lines go; undefined when they cannot be kept, which must not prevent a start. */
function openLog(dataDir: string): number | undefined {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    return openSync(logFile(dataDir), 'a');
  } catch {
    return undefined;
  }
}
