import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../storage/storage.js';
import { socketPath } from './unix-socket.js';

/** Rises whenever the bytes of keys or catalog entries change their meaning. */
const FORMAT_VERSION = 1;

/** The database name in the connection strings that this program gives. */
export const DATABASE = 'adoption';

/** Below and above all keys. */
const ALL_KEYS = { start: Buffer.of(0), end: Buffer.alloc(9, 255), reverse: false };

/**
 * The database folder DATA_DIR/mongo, made when it is missing.
 * @throws Error naming DATA_DIR when no socket in it can be reached, or the folder cannot be made
 */
export function makeDataFolder(dataDir: string): string {
  const folder = join(dataDir, 'mongo');
  if (folder.includes('%'))
    throw new Error(`DATA_DIR: ${dataDir} has a %, and the MongoDB driver opens no socket under such a path`);
  // The longest name in it; longer numbers of owners are out of reach.
  socketPath(join(folder, 'owner.1000'));
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderError(folder, error);
  }
  return folder;
}

/** What the system says of a folder without room: its disk, this user's quota, or this process's limit is used up. */
const NO_ROOM = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What it says of one that this user may not use; LMDB gives the number of EACCES. */
const NO_ACCESS = new Set<unknown>(['EACCES', 'EPERM', 'EROFS', 13]);

/** The system's error as one line that names the folder; other errors speak for themselves. */
export function folderError(folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (NO_ROOM.has(code)) return new Error(`${folder} cannot be opened: there is no space left on its disk`);
  if (NO_ACCESS.has(code))
    return new Error(`DATA_DIR: this user may not read and write all of ${folder}: ${message}`);
  return error;
}

/** Where the process that serves a folder takes connections: the same place for each that ever does. */
export const socketFile = (folder: string) => join(folder, 'db.sock');

/** The connection string of that place. */
export function socketUri(folder: string): string {
  return `mongodb://${encodeURIComponent(socketPath(socketFile(folder)))}/${DATABASE}`;
}

/**
 * Whether the folder is marked with this program's format; not, if it never held data.
 * @throws Error when it was written in another format: it is neither read wrongly nor overwritten
 */
export function isMarked(folder: string): boolean {
  const found = readMark(markFile(folder));
  if (found !== '' && found !== String(FORMAT_VERSION))
    throw new Error(
      `${folder} has data format ${found.slice(0, 20)}, this version reads format ${FORMAT_VERSION}. ` +
        'Dump it with the version that wrote it and restore the dump here.',
    );
  return found !== '';
}

/**
 * Marks a folder with the format, before its first record. A mark that is missing or empty beside an empty store is
 * what a crash during the first start leaves.
 * @throws Error when there are records already: nobody can tell who wrote them
 */
export function mark(folder: string, stored: Reader): void {
  const file = markFile(folder);
  if (stored.entries(ALL_KEYS, 1).length > 0)
    throw new Error(
      `${file} is missing or empty, but the folder holds data. If this program wrote it, write ` +
        `${FORMAT_VERSION} into that file; else choose another DATA_DIR.`,
    );
  writeFileSync(`${file}.new`, `${FORMAT_VERSION}\n`, { flush: true });
  renameSync(`${file}.new`, file);
  const entry = openSync(folder, 'r');
  fsyncSync(entry);
  closeSync(entry);
}

const markFile = (folder: string) => join(folder, 'format-version');

function readMark(file: string): string {
  try {
    return readFileSync(file, 'utf8').replaceAll('\0', '').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
