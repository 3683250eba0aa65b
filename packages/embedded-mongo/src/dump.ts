import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EJSON } from 'bson';
import { type Collection, type Db, type Document, MongoClient } from 'mongodb';
import {
  collectionNameOf,
  documentsIn,
  dumpedIn,
  fileError,
  type Metadata,
  metadataOf,
  readIndexes,
} from './dump-files.js';
import { decode } from './values/bson-types.js';

export { checkDump } from './dump-files.js';

/** Called as documents are read or written. */
export type OnProgress = (collection: string, documents: number) => void;

/** Most documents and bytes of one insert. */
const BATCH = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;

interface RestoreOptions {
  onProgress?: OnProgress;
  /** Aborts the restore. */
  signal?: AbortSignal;
  /** Drops what the database holds. */
  drop?: boolean;
  /**
   * A collection about the data rather than of it, such as its version: it may be there, and what it holds is replaced by the
   * dump's, also if the dump has none.
   */
  about?: string;
  /** Called once all is restored, with the restored database; if it rejects, the restore is undone. */
  onRestored?: (db: Db) => Promise<unknown>;
}

async function withDatabase<T>(uri: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  await client.connect().catch((error) => {
    throw new Error(`the database cannot be reached: ${error.message}`, { cause: error });
  });
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
}

/** Number of documents in the database of `uri`, for a progress bar. */
export function countAll(uri: string): Promise<number> {
  return withDatabase(uri, async (db) => {
    let total = 0;
    for (const collection of await db.collections()) total += await collection.estimatedDocumentCount();
    return total;
  });
}

/**
 * Writes the database of `uri` to DIR/DATABASE in mongodump's layout: COLLECTION.bson (the documents one
 * after the other) and COLLECTION.metadata.json (indexes, extended JSON). `mongorestore DIR` reads it too.
 *
 * Collections are read while others may write to them: for a consistent backup, stop the programs that write first. The
 * folder, which no other user may enter, is renamed into place when it is complete and on disk; an existing one is
 * refused, and of a dump that fails or is aborted nothing is left. One that is killed leaves a folder whose name ends
 * in .unfinished.
 */
export function dump(
  uri: string,
  dir: string,
  onProgress: OnProgress = () => {},
  signal?: AbortSignal,
): Promise<number> {
  return withDatabase(uri, async (db) => {
    const target = join(dir, db.databaseName);
    // Of this dump alone: another one may be writing to the same folder.
    const unfinished = `${target}.${randomBytes(4).toString('hex')}.unfinished`;
    const isTaken = () => new Error(`${target} exists already: name another folder`);
    const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    if (names.length === 0) throw new Error('the database is empty: there is nothing to dump');
    let isNew = false;
    try {
      isNew = (await mkdir(dir, { recursive: true })) !== undefined;
      if (existsSync(target)) throw isTaken();
      await mkdir(unfinished, { mode: 0o700 });
      let total = 0;
      for (const name of names) {
        if (name.startsWith('system.')) continue;
        const path = join(unfinished, encodeURIComponent(name));
        total += await dumpCollection(db, name, path, onProgress, signal);
      }
      await flushFolder(unfinished);
      await rename(unfinished, target).catch((error) => {
        throw existsSync(target) ? isTaken() : error;
      });
      await flushFolder(dir);
      return total;
    } catch (error) {
      // What made the dump fail is to be told, not that its rest could not be removed.
      await rm(unfinished, { recursive: true, force: true })
        .then(() => (isNew ? rmdir(dir) : undefined))
        .catch(() => {});
      throw fileError(error, dir);
    }
  });
}

/** Writes a folder's entries to disk. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

async function dumpCollection(
  db: Db,
  name: string,
  path: string,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<number> {
  const collection = db.collection(name);
  const indexes = (await collection.indexes()) as Metadata['indexes'];
  const metadata: Metadata = { collectionName: name, type: 'collection', options: {}, indexes };
  await writeFile(`${path}.metadata.json`, EJSON.stringify(metadata, { relaxed: false }), { flush: true });
  let count = 0;
  async function* documents(): AsyncGenerator<Uint8Array> {
    for await (const document of collection.find({}, { raw: true })) {
      // With `raw` the driver yields the bytes of each document.
      yield document as unknown as Uint8Array;
      count++;
      if (count % BATCH === 0) onProgress(name, BATCH);
    }
  }
  await pipeline(documents, createWriteStream(`${path}.bson`, { flush: true }), signal ? { signal } : {});
  onProgress(name, count % BATCH);
  return count;
}

/**
 * Drops what a database holds, if `drop` is set.
 * @throws Error naming a collection that is not empty if it is not
 */
async function makeRoom(db: Db, drop: boolean, about: string | undefined): Promise<void> {
  for (const one of await db.collections()) {
    const isData = one.collectionName !== about && !one.collectionName.startsWith('system.');
    if (!isData) continue;
    if (drop) await one.drop();
    else if (await one.findOne({}, { projection: { _id: 1 } }))
      throw new Error(
        `the collection ${one.namespace} is not empty: restore into another database, or replace all that this one ` +
          'holds, with --drop',
      );
  }
  if (about !== undefined) await db.collection(about).deleteMany({});
}

/**
 * Reads a dump (of this program or of mongodump) into the database of `uri`. `dir` is the folder of one database, or
 * one that holds exactly one. Collections that are not empty are refused before anything is written, or dropped if `drop`
 * is set; indexes are built after the documents are inserted. Collections of a restore that fails or is aborted are
 * dropped again.
 */
export async function restore(
  uri: string,
  dir: string,
  { onProgress = () => {}, signal, drop = false, about, onRestored }: RestoreOptions = {},
): Promise<number> {
  return withDatabase(uri, async (db) => {
    const paths = await dumpedIn(dir);
    await makeRoom(db, drop, about);
    let total = 0;
    const begun: Collection[] = [];
    try {
      for (const path of paths) {
        const collection = db.collection(collectionNameOf(path));
        begun.push(collection);
        total += await restoreCollection(collection, path, onProgress, signal);
      }
      await onRestored?.(db);
      return total;
    } catch (error) {
      await dropAll(begun, error as Error);
      throw error;
    }
  });
}

/** Undoes a restore. @throws Error that names both faults if that fails, too */
async function dropAll(collections: Collection[], why: Error): Promise<void> {
  try {
    for (const collection of collections) await collection.drop();
  } catch (error) {
    const names = collections.map(({ namespace }) => namespace).join(', ');
    throw new Error(
      `${why.message}; what is restored already remains, because it cannot be dropped ` +
        `(${(error as Error).message}): drop ${names} before you repeat this`,
      { cause: error },
    );
  }
}

async function restoreCollection(
  collection: Collection,
  path: string,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<number> {
  const indexes = await readIndexes(metadataOf(path));
  await collection.db.createCollection(collection.collectionName);
  let count = 0;
  let batch: Document[] = [];
  let bytes = 0;
  const flush = async () => {
    signal?.throwIfAborted();
    if (batch.length > 0) await collection.insertMany(batch, { ordered: false });
    onProgress(collection.collectionName, batch.length);
    batch = [];
    bytes = 0;
  };
  try {
    for await (const document of documentsIn(path)) {
      batch.push(decode(document));
      bytes += document.length;
      count++;
      if (batch.length >= BATCH || bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    if (indexes.length > 0) await collection.createIndexes(indexes);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error(`${collection.namespace} cannot be restored: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return count;
}
