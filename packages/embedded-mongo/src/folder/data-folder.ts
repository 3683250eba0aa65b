import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reader } from '../storage/storage.js';
import { STORE_FILE } from '../storage/unfinished-store.js';
import { socketPath } from './unix-socket.js';

/** Raised whenever the encoding of keys or catalog entries changes. */
const FORMAT_VERSION = 1;

/** Below and above all keys. */
const ALL_KEYS = { start: Buffer.of(0), end: Buffer.alloc(9, 255), reverse: false };

/**
 * Creates a folder that no other user may enter, or makes an existing one so: its sockets ask for no password.
 * @throws the system's error
 */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode } = statSync(folder);
  if (mode & 0o077) chmodSync(folder, mode & 0o700);
}

/**
 * The folder of the database, `mongo` in a data folder, created if missing.
 * @throws Error naming it if no socket in it can be reached, or it cannot be created
 */
export function makeDataFolder(dataDir: string): string {
  const folder = join(dataDir, 'mongo');
  if (folder.includes('%'))
    throw new Error(
      `data folder: ${dataDir} has a %, and the MongoDB driver opens no socket under such a path`,
    );
  // The longest name in the folder: owner numbers stay far below 10,000.
  socketPath(join(folder, 'owner.1000'));
  try {
    makePrivate(folder);
  } catch (error) {
    throw folderError(folder, error);
  }
  return folder;
}

/** Error codes for no space left: on the disk, in this user's quota, or by this process's file size limit. */
const NO_ROOM = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Error codes for missing permission; LMDB reports EACCES as 13. */
const NO_ACCESS = new Set<unknown>(['EACCES', 'EPERM', 'EROFS', 13]);

/** A system error as one line that names the folder; other errors unchanged. */
export function folderError(folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (NO_ROOM.has(code)) return new Error(`${folder} cannot be opened: there is no space left on its disk`);
  if (NO_ACCESS.has(code))
    return new Error(`data folder: this user may not read and write all of ${folder}: ${message}`);
  return error;
}

/** The socket on which the folder's server accepts connections, the same after each restart. */
export const socketFile = (folder: string) => join(folder, 'db.sock');

/** The connection string of that socket. @param database that clients use unless they name another */
export function socketUri(folder: string, database: string): string {
  return `mongodb://${encodeURIComponent(socketPath(socketFile(folder)))}/${database}`;
}

/** Whether a data folder holds a database. @throws Error if it cannot be entered */
export function holdsDatabase(dataDir: string): boolean {
  try {
    statSync(join(dataDir, 'mongo', STORE_FILE));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw folderError(dataDir, error);
  }
}

/**
 * Whether the folder is marked with this data format; a folder that never held data is not.
 * @throws Error when it was written in another format
 */
export function isMarked(folder: string): boolean {
  const file = markFile(folder);
  // A power cut may leave zeros.
  const found = existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\0', '').trim() : '';
  if (found !== '' && found !== String(FORMAT_VERSION))
    throw new Error(
      `${folder} has data format ${found.slice(0, 20)}, this version reads format ${FORMAT_VERSION}. ` +
        'Dump it with the version that wrote it and restore the dump here.',
    );
  return found !== '';
}

/**
 * Marks a folder with the format, before its first record. A missing or empty mark with an empty store
 * results from a crash during the first start.
 * @throws Error when there are records already, of an unknown format
 */
export function mark(folder: string, stored: Reader): void {
  const file = markFile(folder);
  if (stored.entries(ALL_KEYS, 1).length > 0)
    throw new Error(
      `${file} is missing or empty, but the folder holds data. If this program wrote it, write ` +
        `${FORMAT_VERSION} into that file; else choose another data folder.`,
    );
  // A marked folder has a whole store: see removeUnfinishedStore.
  sync(join(folder, STORE_FILE));
  writeFileSync(`${file}.new`, `${FORMAT_VERSION}\n`, { flush: true });
  renameSync(`${file}.new`, file);
  sync(folder);
  sync(dirname(folder));
}

/** Puts a file on disk, or the names in a folder. */
function sync(path: string): void {
  const opened = openSync(path, 'r');
  fsyncSync(opened);
  closeSync(opened);
}

const markFile = (folder: string) => join(folder, 'format-version');
