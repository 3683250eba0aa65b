import { type Document, MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { orderedValue } from '../values/field-path.js';
import { type IndexSpec, indexKey } from './index-spec.js';
import type { KeyRange, Reader, Writer } from './storage.js';

/** An index of a collection. Its entries have keys that begin with `ident`. */
export interface Index {
  spec: IndexSpec;
  ident: number;
}

/** Bytes of a record id in keys; 2^48 inserts are enough for one collection. */
export const RECORD_ID_BYTES = 6;

/** The key prefix of a record store or index. */
export function identPrefix(ident: number): Buffer {
  const prefix = Buffer.allocUnsafe(4);
  prefix.writeUInt32BE(ident, 0);
  return prefix;
}

/** All keys of a record store or index. */
export function identRange(ident: number): KeyRange {
  return { start: identPrefix(ident), end: identPrefix(ident + 1), reverse: false };
}

function idBytes(recordId: number): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_ID_BYTES);
  bytes.writeUIntBE(recordId, 0, RECORD_ID_BYTES);
  return bytes;
}

/** The record id at the end of a record key or index key. */
export function trailingRecordId(key: Buffer): number {
  return key.readUIntBE(key.length - RECORD_ID_BYTES, RECORD_ID_BYTES);
}

/**
 * A collection: documents under a rising record id (natural order is order of insertion), and index entries
 * that lead to record ids. An entry of a unique index is KEY -> record id, so that one look-up detects a
 * duplicate; of any other index KEY + record id -> nothing.
 */
export class Collection {
  readonly database: string;
  readonly name: string;
  readonly ident: number;
  indexes: Index[];
  /** How often a query read the whole collection, by its fields; serverStatus shows it. */
  readonly collectionScans = new Map<string, number>();
  #nextRecordId: number;

  constructor(database: string, name: string, ident: number, indexes: Index[], nextRecordId: number) {
    this.database = database;
    this.name = name;
    this.ident = ident;
    this.indexes = indexes;
    this.#nextRecordId = nextRecordId;
  }

  get namespace(): string {
    return `${this.database}.${this.name}`;
  }

  /** The stored BSON of a record. */
  read(reader: Reader, recordId: number): Buffer | undefined {
    return reader.get(this.#recordKey(recordId));
  }

  /** Number of documents. */
  count(reader: Reader): number {
    const { start, end } = identRange(this.ident);
    return reader.count(start, end);
  }

  /** Stores a new document. Everything that can be refused is checked before the first put. */
  insert(writer: Writer, document: Document, bytes: Uint8Array): void {
    checkSize(bytes);
    const keys = this.indexes.map((index) => {
      const key = entryKey(index, document);
      if (key) this.#checkUnique(writer, index, key, undefined, document);
      return key;
    });
    const recordId = this.#nextRecordId++;
    writer.put(this.#recordKey(recordId), bytes);
    for (const [i, index] of this.indexes.entries()) putEntry(writer, index, keys[i], recordId);
  }

  /** Replaces a document, touching only the index entries that differ. */
  replace(writer: Writer, recordId: number, before: Document, after: Document, bytes: Uint8Array): void {
    checkSize(bytes);
    const changes = this.indexes
      .map((index) => ({ index, old: entryKey(index, before), now: entryKey(index, after) }))
      .filter(({ old, now }) => !old || !now || !old.equals(now));
    for (const { index, now } of changes) if (now) this.#checkUnique(writer, index, now, recordId, after);
    writer.put(this.#recordKey(recordId), bytes);
    for (const { index, old, now } of changes) {
      removeEntry(writer, index, old, recordId);
      putEntry(writer, index, now, recordId);
    }
  }

  remove(writer: Writer, recordId: number, document: Document): void {
    const keys = this.indexes.map((index) => entryKey(index, document));
    writer.remove(this.#recordKey(recordId));
    for (const [i, index] of this.indexes.entries()) removeEntry(writer, index, keys[i], recordId);
  }

  /** Adds the entry of an existing document to a new index. Throws DuplicateKey before putting anything. */
  indexRecord(writer: Writer, index: Index, recordId: number, document: Document): void {
    const key = entryKey(index, document);
    if (key) this.#checkUnique(writer, index, key, recordId, document);
    putEntry(writer, index, key, recordId);
  }

  #recordKey(recordId: number): Buffer {
    return Buffer.concat([identPrefix(this.ident), idBytes(recordId)]);
  }

  /** Throws DuplicateKey (11000) with mongod's text, keyPattern and keyValue; mongoose and applications read these. */
  #checkUnique(
    writer: Writer,
    { spec }: Index,
    key: Buffer,
    recordId: number | undefined,
    document: Document,
  ): void {
    const owner = spec.unique ? writer.get(key) : undefined;
    if (!owner || owner.readUIntBE(0, RECORD_ID_BYTES) === recordId) return;
    const values = spec.fields.map((field) => [field.name, orderedValue(field, document) ?? null] as const);
    const shown = values.map(([name, value]) => `${name}: ${display(value)}`).join(', ');
    throw new CommandError(
      11000,
      `E11000 duplicate key error collection: ${this.namespace} index: ${spec.name} dup key: { ${shown} }`,
      { keyPattern: spec.document.key, keyValue: Object.fromEntries(values) },
    );
  }
}

/** The key of a document in an index. */
function entryKey({ spec, ident }: Index, document: Document): Buffer | undefined {
  const key = indexKey(spec, document);
  return key && Buffer.concat([identPrefix(ident), key]);
}

/** The key under which an entry is stored. */
const storedKey = ({ spec }: Index, key: Buffer, recordId: number) =>
  spec.unique ? key : Buffer.concat([key, idBytes(recordId)]);

function putEntry(writer: Writer, index: Index, key: Buffer | undefined, recordId: number): void {
  if (key) writer.put(storedKey(index, key, recordId), index.spec.unique ? idBytes(recordId) : NOTHING);
}

function removeEntry(writer: Writer, index: Index, key: Buffer | undefined, recordId: number): void {
  if (key) writer.remove(storedKey(index, key, recordId));
}

const NOTHING = Buffer.alloc(0);

/** A value as mongod's shell writes it. */
function display(value: unknown): string {
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (typeof value === 'object' && value !== null && 'toHexString' in value) return `ObjectId('${value}')`;
  return JSON.stringify(value);
}

function checkSize(bytes: Uint8Array): void {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new CommandError(10334, `A document of ${bytes.length} bytes is larger than ${MAX_DOCUMENT_BYTES}`);
}
