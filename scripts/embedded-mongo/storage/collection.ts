import { indexKeys } from '../indexes/index-keys.js';
import { ID_INDEX, type IndexSpec, parseIndexSpec } from '../indexes/index-spec.js';
import { type Document, MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { valueAt } from '../values/field-path.js';
import type { KeyRange, Reader, Writer } from './storage.js';

/** An index of a collection. Its entries live under `ident`. */
export interface Index {
  spec: IndexSpec;
  ident: number;
  /** Set for good once a document had an array on an indexed path: bounds then mean less (see the planner). */
  multikey: boolean;
}

/** Bytes of a record id in keys; 2^48 inserts are enough for one collection. */
export const RECORD_ID_BYTES = 6;
const IDENT_BYTES = 4;

/** The key prefix of a record store or index. */
export function identPrefix(ident: number): Buffer {
  const prefix = Buffer.allocUnsafe(IDENT_BYTES);
  prefix.writeUInt32BE(ident, 0);
  return prefix;
}

/** All keys of a record store or index. */
export function identRange(ident: number): KeyRange {
  return { start: identPrefix(ident), end: identPrefix(ident + 1), reverse: false };
}

/** The key of a record. */
function recordKey(ident: number, recordId: number): Buffer {
  const key = Buffer.allocUnsafe(IDENT_BYTES + RECORD_ID_BYTES);
  key.writeUInt32BE(ident, 0);
  key.writeUIntBE(recordId, IDENT_BYTES, RECORD_ID_BYTES);
  return key;
}

/** The record id at the end of a record key or index key. */
export function trailingRecordId(key: Buffer): number {
  return key.readUIntBE(key.length - RECORD_ID_BYTES, RECORD_ID_BYTES);
}

/**
 * A collection: documents under a rising record id (natural order is order of insertion), and index entries that
 * lead to record ids. An entry of a unique index is KEY -> record id, so that a second KEY is seen by one look-up;
 * of any other index KEY + record id -> nothing.
 */
export class Collection {
  readonly database: string;
  readonly name: string;
  readonly ident: number;
  indexes: Index[];
  /** How often a query had to read the whole collection, by what it asked for; serverStatus shows it. */
  readonly collectionScans = new Map<string, number>();
  private nextRecordId: number;

  constructor(database: string, name: string, ident: number, indexes: Index[], nextRecordId: number) {
    this.database = database;
    this.name = name;
    this.ident = ident;
    this.indexes = indexes;
    this.nextRecordId = nextRecordId;
  }

  get namespace(): string {
    return `${this.database}.${this.name}`;
  }

  /** A collection that holds nothing yet, with its index on _id. */
  static empty(database: string, name: string, ident: number, idIdent: number): Collection {
    const idIndex = { spec: parseIndexSpec(ID_INDEX), ident: idIdent, multikey: false };
    return new Collection(database, name, ident, [idIndex], 1);
  }

  /** The stored BSON of a record. */
  read(reader: Reader, recordId: number): Buffer | undefined {
    return reader.get(recordKey(this.ident, recordId));
  }

  /** Number of documents. */
  count(reader: Reader): number {
    const { start, end } = identRange(this.ident);
    return reader.count(start, end);
  }

  /** Stores a new document. Everything that can be refused is checked before the first put. */
  insert(writer: Writer, document: Document, bytes: Uint8Array): void {
    checkSize(bytes);
    const puts = this.indexes.map((index) => this.entriesOf(writer, index, document));
    for (const [i, index] of this.indexes.entries())
      for (const key of puts[i]?.keys ?? []) this.checkUnique(writer, index, key, undefined, document);
    const recordId = this.nextRecordId++;
    writer.put(recordKey(this.ident, recordId), bytes);
    for (const [i, index] of this.indexes.entries())
      for (const key of puts[i]?.keys ?? []) this.putEntry(writer, index, key, recordId);
  }

  /** Replaces a document, touching only the index entries that differ. */
  replace(writer: Writer, recordId: number, before: Document, after: Document, bytes: Uint8Array): void {
    checkSize(bytes);
    const changes = this.indexes.map((index) => {
      const old = this.entriesOf(writer, index, before).keys;
      const now = this.entriesOf(writer, index, after).keys;
      return {
        index,
        gone: old.filter((key) => !now.some((other) => other.equals(key))),
        added: now.filter((key) => !old.some((other) => other.equals(key))),
      };
    });
    for (const { index, added } of changes)
      for (const key of added) this.checkUnique(writer, index, key, recordId, after);
    writer.put(recordKey(this.ident, recordId), bytes);
    for (const { index, gone, added } of changes) {
      for (const key of gone) this.removeEntry(writer, index, key, recordId);
      for (const key of added) this.putEntry(writer, index, key, recordId);
    }
  }

  remove(writer: Writer, recordId: number, document: Document): void {
    const gone = this.indexes.map((index) => ({ index, keys: this.entriesOf(writer, index, document).keys }));
    writer.remove(recordKey(this.ident, recordId));
    for (const { index, keys } of gone)
      for (const key of keys) this.removeEntry(writer, index, key, recordId);
  }

  /** Adds the entries of one existing document to a new index. Throws DuplicateKey before putting anything. */
  indexRecord(writer: Writer, index: Index, recordId: number, document: Document): void {
    const { keys } = this.entriesOf(writer, index, document);
    for (const key of keys) this.checkUnique(writer, index, key, recordId, document);
    for (const key of keys) this.putEntry(writer, index, key, recordId);
  }

  /** Called when an index becomes multikey; the catalog stores it in the same transaction. */
  onMultikey: (writer: Writer, index: Index) => void = () => {};

  private entriesOf(writer: Writer, index: Index, document: Document): { keys: Buffer[] } {
    const { keys, multikey } = indexKeys(index.spec, document);
    if (multikey && !index.multikey) this.onMultikey(writer, index);
    const prefix = identPrefix(index.ident);
    return { keys: keys.map((key) => Buffer.concat([prefix, key])) };
  }

  private checkUnique(
    writer: Writer,
    index: Index,
    key: Buffer,
    recordId: number | undefined,
    document: Document,
  ): void {
    if (!index.spec.unique) return;
    const owner = writer.get(key);
    if (owner && owner.readUIntBE(0, RECORD_ID_BYTES) !== recordId) throw this.duplicateKey(index, document);
  }

  private putEntry(writer: Writer, index: Index, key: Buffer, recordId: number): void {
    const id = Buffer.allocUnsafe(RECORD_ID_BYTES);
    id.writeUIntBE(recordId, 0, RECORD_ID_BYTES);
    if (index.spec.unique) writer.put(key, id);
    else writer.put(Buffer.concat([key, id]), NOTHING);
  }

  private removeEntry(writer: Writer, index: Index, key: Buffer, recordId: number): void {
    const id = Buffer.allocUnsafe(RECORD_ID_BYTES);
    id.writeUIntBE(recordId, 0, RECORD_ID_BYTES);
    writer.remove(index.spec.unique ? key : Buffer.concat([key, id]));
  }

  /** DuplicateKey (11000) with mongod's text, keyPattern and keyValue; mongoose and applications read these. */
  private duplicateKey(index: Index, document: Document): CommandError {
    const keyPattern = index.spec.document.key as Document;
    const keyValue = Object.fromEntries(
      index.spec.fields.map((field) => [field.name, valueAt(document, field.path) ?? null]),
    );
    const shown = Object.entries(keyValue).map(([name, value]) => `${name}: ${display(value)}`);
    return new CommandError(
      11000,
      `E11000 duplicate key error collection: ${this.namespace} index: ${index.spec.name} dup key: { ${shown.join(', ')} }`,
      { keyPattern, keyValue },
    );
  }
}

const NOTHING = Buffer.alloc(0);

function display(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (typeof value === 'object' && value !== null && 'toHexString' in value)
    return `ObjectId('${String(value)}')`;
  if (typeof value === 'object' && value !== null && 'value' in value) return String(value.value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function checkSize(bytes: Uint8Array): void {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new CommandError(
      10334,
      `BSONObj size: ${bytes.length} is invalid. Size must be between 0 and ${MAX_DOCUMENT_BYTES}`,
    );
}
