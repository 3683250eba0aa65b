import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EJSON } from 'bson';
import type { Document, IndexDescription } from 'mongodb';
import { decode, MAX_DOCUMENT_BYTES } from './values/bson-types.js';

/** The content of DIR/DATABASE/COLLECTION.metadata.json, as mongodump writes it. */
export interface Metadata {
  collectionName: string;
  type: 'collection' | 'view';
  options: Document;
  indexes?: (Document & IndexDescription)[];
}

/** What the system's error codes mean for a folder that its user named. */
const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is a file: name a folder',
  EEXIST: 'is a file: name a folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be read or written by this user',
  EPERM: 'may not be read or written by this user',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'cannot be written: there is no space left on its disk',
  EDQUOT: 'cannot be written: the quota of its disk is used up',
  EFBIG: 'cannot be written: it exceeds the largest file that this process may write',
};

/** A system error as one line that names the file; other errors unchanged. */
export function fileError(error: unknown, fallback: string): unknown {
  const { code, path = fallback } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : REASONS[code];
  return reason ? new Error(`${path} ${reason}`, { cause: error }) : error;
}

/** The folder of the one dump in a folder. */
async function findDump(dir: string): Promise<string> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error) => {
    throw fileError(error, dir);
  });
  if (entries.some((entry) => /\.bson(?:\.gz)?$/.test(entry.name) && entry.isFile())) return dir;
  const folders = entries.filter((entry) => entry.isDirectory());
  const finished = folders.filter(({ name }) => !name.endsWith('.unfinished'));
  const [only] = finished;
  if (only && finished.length === 1) return join(dir, only.name);
  if (finished.length > 1)
    throw new Error(
      `${dir} holds ${finished.length} folders: name that of one database, as ${join(dir, '…')}`,
    );
  if (folders.length > 0)
    throw new Error(`${dir} holds an interrupted dump only (${folders[0]?.name}): dump again`);
  throw new Error(`${dir} holds no dump`);
}

/**
 * The paths of the *.bson files of a dump, by name.
 * @throws Error naming one that is missing beside its metadata, or that no collection can be named after
 */
export async function dumpedIn(dir: string): Promise<string[]> {
  const folder = await findDump(dir);
  const all = await readdir(folder);
  const names = all.filter((name) => name.endsWith('.bson'));
  if (names.length > 0) {
    for (const file of all.filter((name) => name.endsWith('.metadata.json'))) {
      const documents = file.replace(/\.metadata\.json$/, '.bson');
      // A view has no documents of its own.
      if (names.includes(documents) || (await readMetadata(join(folder, file))).type === 'view') continue;
      throw new Error(`${join(folder, documents)} is missing: the dump is not whole`);
    }
    const paths = names.sort().map((name) => join(folder, name));
    const collections = new Map<string, string>();
    for (const path of paths) {
      const name = collectionNameOf(path);
      const other = collections.get(name);
      if (other) throw new Error(`${other} and ${path} are both the collection ${name}`);
      collections.set(name, path);
    }
    return paths;
  }
  if (all.some((name) => name.endsWith('.bson.gz')))
    throw new Error(`${folder} is compressed: gunzip its files first`);
  throw new Error(`${folder} holds no *.bson files`);
}

/**
 * The collection of a .bson file, whose name is percent-encoded.
 * @throws Error naming the file if that is no name of a collection
 */
export function collectionNameOf(path: string): string {
  let name = '.';
  try {
    name = decodeURIComponent(basename(path, '.bson'));
  } catch {
    // As a name that is none.
  }
  if (name.startsWith('.') || name.includes('\0') || name.includes('$'))
    throw new Error(
      `${path} has no name of a collection: it is not percent-encoded UTF-8, starts with a dot, or holds NUL or $`,
    );
  return name;
}

/** The metadata file beside a .bson file. */
export const metadataOf = (path: string) => path.replace(/\.bson$/, '.metadata.json');

/** @throws Error naming the file if it is damaged */
async function readMetadata(file: string): Promise<Metadata> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw fileError(error, file);
  });
  try {
    const metadata = EJSON.parse(text, { relaxed: true });
    const { indexes = [] } = metadata;
    if (!Array.isArray(indexes) || !indexes.every((index) => typeof index?.key === 'object' && index.key))
      throw new Error('"indexes" must be an array of indexes, each with its "key"');
    return metadata as Metadata;
  } catch (error) {
    throw new Error(`${file} is damaged: ${(error as Error).message}`, { cause: error });
  }
}

/** The indexes to build, of a metadata file if there is one. */
export async function readIndexes(file: string): Promise<IndexDescription[]> {
  if (!existsSync(file)) return [];
  const { indexes } = await readMetadata(file);
  return (indexes ?? []).filter(({ name }) => name !== '_id_').map(({ v: _v, ns: _ns, ...index }) => index);
}

/** The documents of a .bson file. Throws with the position of a bad length, a bad document or a premature end. */
export async function* documentsIn(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= 4) {
      const length = rest.readInt32LE(at);
      if (length < 5 || length > MAX_DOCUMENT_BYTES + 1024)
        throw new Error(`${path} is damaged at byte ${offset + at}: a document of ${length} bytes`);
      if (rest.length - at < length) break;
      yield rest.subarray(at, at + length);
      at += length;
    }
    rest = rest.subarray(at);
    offset += at;
  }
  if (rest.length > 0) throw new Error(`${path} ends in the middle of a document, at byte ${offset}`);
}

/**
 * Reads all of a dump.
 * @returns its number of documents
 * @throws Error naming the file, and where in it, if any of it is damaged
 */
export async function checkDump(dir: string): Promise<number> {
  let total = 0;
  for (const path of await dumpedIn(dir)) {
    await readIndexes(metadataOf(path));
    let offset = 0;
    try {
      for await (const document of documentsIn(path)) {
        checkDocument(document, path, offset);
        offset += document.length;
        total++;
      }
    } catch (error) {
      throw fileError(error, path);
    }
  }
  return total;
}

function checkDocument(document: Buffer, path: string, offset: number): void {
  try {
    decode(document);
  } catch (error) {
    throw new Error(`${path} is damaged at byte ${offset}: ${(error as Error).message}`, { cause: error });
  }
}
