import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EJSON } from 'bson';
import { type Collection, type Db, type Document, type IndexDescription, MongoClient } from 'mongodb';
import { decode, MAX_DOCUMENT_BYTES } from './values/bson-types.js';

/** Called as documents are read or written. */
export type OnProgress = (collection: string, documents: number) => void;

/** The content of DIR/DATABASE/COLLECTION.metadata.json, as mongodump writes it. */
interface Metadata {
  collectionName: string;
  type: 'collection';
  options: Document;
  indexes?: (Document & IndexDescription)[];
}

/** Most documents and bytes of one insert. */
const BATCH = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;

async function withDatabase<T>(uri: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await new MongoClient(uri, { serverSelectionTimeoutMS: 5000 }).connect();
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
 * Collections are read while others may write to them: for a consistent backup, stop the service first. The
 * folder is renamed into place when it is complete; an existing one is refused.
 */
export function dump(uri: string, dir: string, onProgress: OnProgress = () => {}): Promise<number> {
  return withDatabase(uri, async (db) => {
    const target = join(dir, db.databaseName);
    await mkdir(dir, { recursive: true });
    if ((await readdir(dir)).includes(db.databaseName)) throw new Error(`${target} exists already`);
    const unfinished = `${target}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished);
    let total = 0;
    for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
      if (name.startsWith('system.')) continue;
      total += await dumpCollection(db, name, join(unfinished, encodeURIComponent(name)), onProgress);
    }
    await rename(unfinished, target);
    return total;
  });
}

async function dumpCollection(db: Db, name: string, path: string, onProgress: OnProgress): Promise<number> {
  const collection = db.collection(name);
  const indexes = (await collection.indexes()) as Metadata['indexes'];
  const metadata: Metadata = { collectionName: name, type: 'collection', options: {}, indexes };
  await writeFile(`${path}.metadata.json`, EJSON.stringify(metadata, { relaxed: false }));
  let count = 0;
  async function* documents(): AsyncGenerator<Uint8Array> {
    for await (const document of collection.find({}, { raw: true })) {
      // With `raw` the driver yields the bytes of each document.
      yield document as unknown as Uint8Array;
      count++;
      if (count % BATCH === 0) onProgress(name, BATCH);
    }
  }
  await pipeline(documents, createWriteStream(`${path}.bson`, { flush: true }));
  onProgress(name, count % BATCH);
  return count;
}

/**
 * Reads a dump (of this program or of mongodump) into the database of `uri`. `dir` is the folder of one database, or
 * one that holds exactly one. Collections that are not empty are refused before anything is written; indexes are
 * built after the documents are inserted.
 */
export function restore(uri: string, dir: string, onProgress: OnProgress = () => {}): Promise<number> {
  return withDatabase(uri, async (db) => {
    const source = await findDump(dir);
    const paths = await dumpedIn(source);
    if (paths.length === 0) throw new Error(`${source} holds no *.bson files`);
    for (const path of paths) {
      const { collectionName: name, namespace } = collectionOf(db, path);
      if (await db.collection(name).findOne({}, { projection: { _id: 1 } }))
        throw new Error(`the collection ${namespace} is not empty`);
    }
    let total = 0;
    for (const path of paths) total += await restoreCollection(collectionOf(db, path), path, onProgress);
    return total;
  });
}

async function findDump(dir: string): Promise<string> {
  const entries = await readdir(dir, { withFileTypes: true });
  if (entries.some((entry) => entry.name.endsWith('.bson'))) return dir;
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.endsWith('.unfinished'));
  const [only] = folders;
  if (!only || folders.length > 1)
    throw new Error(`${dir} must hold the dump of one database, not of ${folders.length}`);
  return join(dir, only.name);
}

/** The paths of the *.bson files in a folder, by name. */
async function dumpedIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.bson'));
  return names.sort().map((name) => join(folder, name));
}

const collectionOf = (db: Db, path: string) => db.collection(decodeURIComponent(basename(path, '.bson')));

async function restoreCollection(
  collection: Collection,
  path: string,
  onProgress: OnProgress,
): Promise<number> {
  const indexes = await readIndexes(path.replace(/\.bson$/, '.metadata.json'));
  await collection.db.createCollection(collection.collectionName);
  let count = 0;
  let batch: Document[] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length > 0) await collection.insertMany(batch, { ordered: false });
    onProgress(collection.collectionName, batch.length);
    batch = [];
    bytes = 0;
  };
  for await (const document of documentsIn(path)) {
    batch.push(decode(document));
    bytes += document.length;
    count++;
    if (batch.length >= BATCH || bytes >= BATCH_BYTES) await flush();
  }
  await flush();
  if (indexes.length > 0) await collection.createIndexes(indexes);
  return count;
}

/** The indexes to build, of a metadata file if there is one. */
async function readIndexes(file: string): Promise<IndexDescription[]> {
  if (!existsSync(file)) return [];
  const { indexes } = EJSON.parse(await readFile(file, 'utf8'), { relaxed: true }) as Metadata;
  return (indexes ?? []).filter(({ name }) => name !== '_id_').map(({ v: _v, ns: _ns, ...index }) => index);
}

/** The documents of a .bson file. Throws with the position of a bad length or a premature end. */
async function* documentsIn(path: string): AsyncGenerator<Buffer> {
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

/** Number of documents of a dump. Throws for a damaged one. */
export async function countDump(dir: string): Promise<number> {
  let total = 0;
  for (const path of await dumpedIn(await findDump(dir))) for await (const _ of documentsIn(path)) total++;
  return total;
}
