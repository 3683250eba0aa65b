import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** LMDB's file. */
export const STORE_FILE = 'data.mdb';

/** The number that begins both roots of a store (mdb.c: MDB_MAGIC), and where it is in their pages. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;

/** Where the first root has the size of a page (mdb.c: mm_psize). */
const PAGE_SIZE_AT = 48;

/** Two pages of the largest size that systems have, bytes. */
const MAX_ROOTS = 2 * 65_536;

function hasMagic(bytes: Buffer, page: number): boolean {
  return bytes.length >= page + PAGE_SIZE_AT + 4 && bytes.readUInt32LE(page + MAGIC_AT) === MAGIC;
}

/**
 * Removes a store that a power cut left without both of its roots; LMDB would end the process. To be called for a folder
 * that is not marked: LMDB flushes the roots before the first record, and `mark` before the mark, so there is none.
 */
export function removeUnfinishedStore(folder: string): void {
  const file = join(folder, STORE_FILE);
  if (!existsSync(file) || statSync(file).size > MAX_ROOTS) return;
  const bytes = readFileSync(file);
  const isWhole = hasMagic(bytes, 0) && hasMagic(bytes, bytes.readUInt32LE(PAGE_SIZE_AT));
  if (!isWhole) rmSync(file);
}
