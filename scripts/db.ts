import { join } from 'node:path';
import { checkDump, countAll, dump, restore } from 'embedded-mongo/dump';
import { livingProcesses } from '../domain/platform/cluster/heartbeat.model.js';
import { connectMongo, disconnectMongo } from '../domain/platform/mongo/connection.js';
import { type Config, loadConfig } from '../domain/platform/settings/config.js';
import { openDatabase, requireDatabase } from './command/open-database.js';
import { createProgress } from './command/progress.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { backupFolder } from './db/backup-folder.js';
import { aboutVersion } from './db/restored-data.js';
import { claimDataDir } from './start/claim-data-dir.js';

const usage = `Usage: npm run db -- dump [DIR]
       npm run db -- restore DIR [--drop]

dump writes the database (MONGODB_URI, or the embedded one of DATA_DIR) to DIR in mongodump's layout, by default to
a new folder in DATA_DIR/backups. For a consistent snapshot, dump while the service is stopped: collections are read
one after the other.

restore reads such a folder into a database whose collections are empty, while no service runs on it. A damaged
folder is refused before anything is written, and a restore that fails leaves nothing. With --drop, what the
database holds is dropped first, also what the folder has not: dump it before, to be able to go back.

Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted.`;

/** Exit status of a command ended by Ctrl-C, as shells report it. */
const INTERRUPTED = 130;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A name for a dump made now. */
const nameOfNow = () => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

async function dumpTo(config: Config, given: string | undefined, signal: AbortSignal): Promise<string> {
  requireDatabase(config);
  const dir = given ?? join(backupFolder(config), nameOfNow());
  const database = await openDatabase(config);
  try {
    const progress = createProgress(await countAll(database.uri), 'dump');
    try {
      const total = await dump(database.uri, dir, (_, documents) => progress.advance(documents), signal);
      return `Dumped ${total} documents to ${dir}`;
    } finally {
      progress.stop();
    }
  } finally {
    await database.close();
  }
}

/** @throws Error naming processes of the service: they would go on from numbers that are in their memory */
async function requireNoService(uri: string): Promise<void> {
  await connectMongo(uri);
  try {
    const living = await livingProcesses();
    if (living.length > 0)
      throw new Error(
        `${living.join('; ')}: the service runs on this database, stop it first (a killed process counts for 90 s)`,
      );
  } finally {
    await disconnectMongo();
  }
}

async function restoreFrom(config: Config, dir: string, drop: boolean, signal: AbortSignal): Promise<string> {
  const total = await checkDump(dir);
  // A service keeps numbers in memory, and would go on from those of its empty database.
  const claim = config.MONGODB_URI ? undefined : await claimDataDir(config);
  const database = await openDatabase(config).catch((error) => {
    claim?.release();
    throw error;
  });
  const progress = createProgress(total, 'restore');
  try {
    if (drop && !claim) await requireNoService(database.uri);
    const onProgress = (_: string, documents: number) => progress.advance(documents);
    await restore(database.uri, dir, { onProgress, signal, drop, ...aboutVersion });
    return `Restored ${total} documents from ${dir}. Before you start the service: npm run verify`;
  } finally {
    progress.stop();
    await database.close();
    claim?.release();
  }
}

/** @throws UsageError */
function readCall(args: string[]): { action: 'dump' | 'restore'; dir: string | undefined; drop: boolean } {
  const {
    positionals,
    values: { drop = false },
  } = readArguments({ args, allowPositionals: true, options: { drop: { type: 'boolean' } } });
  const [action, dir] = positionals;
  if (action !== 'dump' && action !== 'restore')
    throw new UsageError(action ? `there is no action ${action}` : 'dump or restore?');
  if (action === 'restore' && dir === undefined) throw new UsageError('restore needs the folder of a dump');
  if (drop && action === 'dump') throw new UsageError('dump takes no --drop');
  if (positionals.length > 2) throw new UsageError(`${action} takes one folder`);
  return { action, dir, drop };
}

await runCommand(usage, async (args) => {
  const { action, dir, drop } = readCall(args);
  const config = loadConfig();
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const { signal } = interruption;
    const text = await (dir !== undefined && action === 'restore'
      ? restoreFrom(config, dir, drop, signal)
      : dumpTo(config, dir, signal));
    process.stdout.write(`${text}\n`);
    return 0;
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    process.stderr.write(`interrupted: nothing of the ${action} is left\n`);
    return INTERRUPTED;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
});
