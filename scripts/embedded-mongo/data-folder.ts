import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rises whenever the bytes of keys or catalog entries change their meaning. */
const FORMAT_VERSION = 1;

/**
 * Opens the database folder DATA_DIR/mongo, making it when it is missing, and returns its path.
 * Throws when it was written in another format: it is neither read wrongly nor overwritten.
 */
export function openDataFolder(dataDir: string): string {
  const folder = join(dataDir, 'mongo');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'format-version');
  if (!existsSync(file)) {
    if (existsSync(join(folder, 'data.mdb')))
      throw new Error(`${folder} holds data but no format-version file; it was not written by this program`);
    // Renamed into place, so that a crash leaves either no file or a whole one.
    writeFileSync(`${file}.new`, `${FORMAT_VERSION}\n`);
    renameSync(`${file}.new`, file);
    return folder;
  }
  const found = readFileSync(file, 'utf8').trim();
  if (found !== String(FORMAT_VERSION))
    throw new Error(
      `${folder} has data format ${found || '(empty)'}, this version reads format ${FORMAT_VERSION}. ` +
        'Dump it with the version that wrote it and restore the dump here.',
    );
  return folder;
}
