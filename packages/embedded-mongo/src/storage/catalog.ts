import { type Document, decode, encode, numericValue } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { Collection, type Index, identRange, trailingRecordId } from './collection.js';
import { ID_INDEX, type IndexSpec, parseIndexSpec } from './index-spec.js';
import type { Reader, Writer } from './storage.js';

/** Ident 0 holds the catalog itself: key = 0 + namespace, value = BSON of the collection's idents and indexes. */
const CATALOG = identRange(0);
const NEXT_IDENT = 'next ident';
const DELETE_AT_ONCE = 1000;

/**
 * The collections and indexes: kept in memory, and every change is stored in its transaction. After a failed
 * commit they are loaded again, so memory is never ahead of the disk.
 */
export class Catalog {
  #collections = new Map<string, Collection>();
  #nextIdent = 1;

  /** Reads everything from the store. */
  load(reader: Reader): void {
    this.#collections = new Map();
    this.#nextIdent = 1;
    for (const { key, value } of reader.entries(CATALOG, Number.MAX_SAFE_INTEGER)) {
      const stored = decode(value);
      if (key.toString('utf8', 4) === NEXT_IDENT) this.#nextIdent = Number(numericValue(stored.next));
      else this.#addLoaded(reader, stored);
    }
  }

  find(database: string, name: string): Collection | undefined {
    return this.#collections.get(`${database}.${name}`);
  }

  /** All collections, by name. */
  all(): Collection[] {
    return [...this.#collections.values()].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  }

  /** Collections of one database, by name. */
  inDatabase(database: string): Collection[] {
    return this.all().filter((collection) => collection.database === database);
  }

  /** The collection, created if missing, as inserts and index builds do. Throws InvalidNamespace (73). */
  ensure(writer: Writer, database: string, name: string): Collection {
    const existing = this.find(database, name);
    if (existing) return existing;
    checkName(database, name);
    const ident = this.#takeIdent(writer);
    const indexes = [{ spec: parseIndexSpec(ID_INDEX), ident: this.#takeIdent(writer) }];
    const collection = new Collection(database, name, ident, indexes, 1);
    this.#collections.set(collection.namespace, collection);
    this.#store(writer, collection);
    return collection;
  }

  /** Adds an empty index; the caller fills it in the same transaction. */
  addIndex(writer: Writer, collection: Collection, spec: IndexSpec): Index {
    const index = { spec, ident: this.#takeIdent(writer) };
    collection.indexes = [...collection.indexes, index];
    this.#store(writer, collection);
    return index;
  }

  removeIndex(writer: Writer, collection: Collection, index: Index): void {
    collection.indexes = collection.indexes.filter((other) => other !== index);
    this.#store(writer, collection);
    removeAll(writer, index.ident);
  }

  drop(writer: Writer, collection: Collection): void {
    this.#collections.delete(collection.namespace);
    writer.remove(catalogKey(collection.namespace));
    for (const { ident } of [collection, ...collection.indexes]) removeAll(writer, ident);
  }

  #takeIdent(writer: Writer): number {
    const ident = this.#nextIdent++;
    writer.put(catalogKey(NEXT_IDENT), encode({ next: this.#nextIdent }));
    return ident;
  }

  #store(writer: Writer, { namespace, database, name, ident, indexes }: Collection): void {
    const stored = indexes.map(({ spec, ident }) => ({ ident, spec: spec.document }));
    writer.put(catalogKey(namespace), encode({ database, name, ident, indexes: stored }));
  }

  #addLoaded(reader: Reader, stored: Document): void {
    const ident = Number(numericValue(stored.ident));
    const indexes = (stored.indexes as Document[]).map((index) => ({
      spec: parseIndexSpec(index.spec),
      ident: Number(numericValue(index.ident)),
    }));
    const [last] = reader.entries({ ...identRange(ident), reverse: true }, 1);
    const nextRecordId = last ? trailingRecordId(last.key) + 1 : 1;
    const { database, name } = stored as { database: string; name: string };
    const collection = new Collection(database, name, ident, indexes, nextRecordId);
    this.#collections.set(collection.namespace, collection);
  }
}

const catalogKey = (name: string): Buffer => Buffer.concat([CATALOG.start, Buffer.from(name)]);

function removeAll(writer: Writer, ident: number): void {
  for (;;) {
    const entries = writer.entries(identRange(ident), DELETE_AT_ONCE);
    for (const { key } of entries) writer.remove(key);
    if (entries.length < DELETE_AT_ONCE) return;
  }
}

/** Throws InvalidNamespace (73) for names that mongod refuses ("Naming Restrictions" in the manual). */
function checkName(database: string, name: string): void {
  if (!/^[^\s/\\."$*<>:|?\0]{1,63}$/.test(database))
    throw new CommandError(73, `Invalid database name: '${database}'`);
  if (/^$|[$\0]|^\.|^system\./.test(name) || name.length > 200)
    throw new CommandError(73, `Invalid collection name: '${database}.${name}'`);
}
