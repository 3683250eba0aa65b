import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../domain/platform/settings/config.js';
import { backupFolder } from '../db/backup-folder.js';
import { type Check, Fault, ok, Skipped, type Verdict, warning } from './check.js';

/** A newest backup that is older than this, hours, leaves too much to lose. */
const RECENT_HOURS = 25;

const HOUR_MS = 60 * 60 * 1_000;

/** When a backup was written, epoch ms: a file, or a folder with anything but a dump that was interrupted. */
async function writtenAt(path: string): Promise<number> {
  const stats = await stat(path);
  const isBackup =
    !stats.isDirectory() || (await readdir(path)).some((name) => !name.endsWith('.unfinished'));
  return isBackup ? stats.mtimeMs : 0;
}

/** When the newest backup in a folder was written, epoch ms; 0 if there is none. */
async function newestIn(folder: string, isGiven: boolean): Promise<number> {
  try {
    const names = (await readdir(folder)).filter((name) => !name.endsWith('.unfinished'));
    return Math.max(0, ...(await Promise.all(names.map((name) => writtenAt(join(folder, name))))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isGiven) return 0;
    throw new Fault(`${folder} cannot be read: ${code}`, 'name the folder that holds the backups');
  }
}

async function checkBackups(config: Config, given: string | undefined): Promise<Verdict> {
  if (config.MONGODB_URI && given === undefined)
    throw new Skipped('backups of MongoDB are not visible from here: name their folder with --backups');
  const folder = given ?? backupFolder(config);
  const newest = await newestIn(folder, given !== undefined);
  const remedy = config.MONGODB_URI
    ? 'docs/operations.md, "Backup and restore"'
    : 'npm run db -- dump, every day';
  if (newest === 0) return warning(`no backup in ${folder}`, remedy);
  const hours = Math.max(0, (Date.now() - newest) / HOUR_MS);
  const age = hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`;
  const text = `the newest backup in ${folder} is ${age} old`;
  return hours > RECENT_HOURS ? warning(text, remedy) : ok(text);
}

/** @param given folder of the backups; by default the one that `npm run db -- dump` writes to */
export function backupChecks(config: () => Config, given: string | undefined): Check[] {
  return [{ name: 'backup', run: () => checkBackups(config(), given) }];
}
