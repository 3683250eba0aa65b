import { BSONRegExp, ObjectId } from 'bson';
import type { FilterNode } from '../query/filter.js';
import { type Found, findRecords } from '../query/find-records.js';
import type { SortField } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import type { Reader, Writer } from '../storage/storage.js';
import {
  checkStorable,
  type Document,
  decode,
  encode,
  isDocument,
  setOwn,
  structuredCopy,
} from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { slotAt, writeSlot } from './paths.js';
import { applyUpdate, type Update } from './update.js';

/** Stores one document of an insert. Throws InvalidIdField (53), DuplicateKey (11000), BSONObjectTooLarge (10334). */
export function insertOne(writer: Writer, collection: Collection, bytes: Uint8Array): void {
  const document = decode(bytes);
  checkStorable(document);
  if (Object.keys(document)[0] === '_id') {
    checkId(document._id);
    collection.insert(writer, document, bytes);
    return;
  }
  insertDocument(writer, collection, document);
}

/** Stores a decoded document, with an _id of the server's making when it has none. Returns the _id. */
export function insertDocument(writer: Writer, collection: Collection, document: Document): unknown {
  const complete: Document = { _id: Object.hasOwn(document, '_id') ? document._id : new ObjectId() };
  // mongod stores _id as the first field.
  for (const key of Object.keys(document)) setOwn(complete, key, document[key]);
  checkId(complete._id);
  checkStorable(complete);
  collection.insert(writer, complete, encode(complete));
  return complete._id;
}

function checkId(id: unknown): void {
  const bad = Array.isArray(id)
    ? 'array'
    : id instanceof BSONRegExp
      ? 'regex'
      : id === undefined
        ? 'undefined'
        : '';
  if (bad) throw new CommandError(53, `The '_id' value cannot be of type ${bad}`);
  if (isDocument(id) && Object.keys(id).some((key) => key.startsWith('$')))
    throw new CommandError(
      52,
      `_id fields may not contain '$'-prefixed fields: ${Object.keys(id)[0]} is not valid for storage.`,
    );
}

export interface UpdateStatement {
  filter: FilterNode;
  update: Update;
  multi: boolean;
  /** Which of the matching documents is the one that is updated, without `multi`. */
  sort: SortField[];
  upsert: boolean;
  hint: unknown;
}

export interface UpdateOutcome {
  matched: number;
  modified: number;
  upsertedId?: unknown;
}

/**
 * Runs one statement of an update command, which looks for its documents with `reader`. Documents that were changed
 * before an error stay changed, as in mongod.
 */
export function updateRecords(
  writer: Writer,
  collection: Collection,
  statement: UpdateStatement,
  reader: Reader,
): UpdateOutcome {
  const { filter, hint, multi, sort, upsert } = statement;
  const query = { filter, sort, skip: 0, limit: multi ? 0 : 1, hint };
  // All of them first: an update must not meet again, further on in its index, a document it has moved there.
  const found = [...findRecords(reader, collection, query)];
  let modified = 0;
  for (const record of found) if (updateOne(writer, collection, record, statement).modified) modified++;
  if (found.length > 0 || !upsert) return { matched: found.length, modified };
  return {
    matched: 0,
    modified: 0,
    upsertedId: insertDocument(writer, collection, upsertDocument(statement)),
  };
}

/** Applies an update to one found record. */
export function updateOne(
  writer: Writer,
  collection: Collection,
  record: Found,
  statement: UpdateStatement,
): { modified: boolean; before: Document; after: Document } {
  const before = record.document ?? decode(record.bytes);
  const after = applyUpdate(statement.update, decode(record.bytes), false);
  const bytes = encode(after);
  const modified = !bytes.equals(record.bytes);
  if (modified) {
    checkStorable(after);
    collection.replace(writer, record.recordId, before, after, bytes);
  }
  return { modified, before, after };
}

/**
 * The document an upsert inserts: the equalities of the filter, then the update ("Upsert Behavior" of update in the
 * manual). Throws NotSingleValueField (54) when the filter gives two values for one path.
 */
export function upsertDocument(statement: UpdateStatement): Document {
  const base: Document = {};
  const seen = new Set<string>();
  for (const node of certain(statement.filter)) {
    if (node.kind === 'in' && node.values.length === 1) setEquality(base, seen, node.path, node.values[0]);
    else if (node.kind === 'compare' && node.op === 'eq') setEquality(base, seen, node.path, node.value);
  }
  // A replacement takes nothing but _id from the filter.
  const start =
    statement.update.kind === 'replacement' ? (Object.hasOwn(base, '_id') ? { _id: base._id } : {}) : base;
  return applyUpdate(statement.update, start, true);
}

/** The predicates that hold for every match; an $or of one branch is that branch. */
function certain(node: FilterNode): FilterNode[] {
  const [only] = node.kind === 'or' ? node.children : [];
  if (node.kind === 'or' && only && node.children.length === 1) return certain(only);
  return node.kind === 'and' ? node.children.flatMap(certain) : [node];
}

function setEquality(base: Document, seen: Set<string>, path: readonly string[], value: unknown): void {
  const name = path.join('.');
  for (const other of seen)
    if (`${name}.`.startsWith(`${other}.`) || other.startsWith(`${name}.`))
      throw new CommandError(
        54,
        `cannot infer query fields to set, ${name === other ? `path '${name}' is matched twice` : `both paths '${other}' and '${name}' are matched`}`,
      );
  seen.add(name);
  const slot = slotAt(base, path, true);
  if (slot) writeSlot(slot, structuredCopy(value));
}
