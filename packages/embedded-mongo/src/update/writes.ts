import { BSONRegExp, ObjectId } from 'bson';
import { findRecords, type QuerySpec } from '../indexes/find-records.js';
import { conjunctsOf, type FilterNode } from '../query/filter.js';
import type { Collection } from '../storage/collection.js';
import type { Writer } from '../storage/storage.js';
import {
  checkStorable,
  type Document,
  decode,
  encode,
  isOperatorDocument,
  setOwn,
} from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { slotAt, writeSlot } from './paths.js';
import { applyUpdate, type Update } from './update.js';

/** Stores one document of an insert. Throws InvalidIdField (53), DuplicateKey (11000), BSONObjectTooLarge (10334). */
export function insertOne(writer: Writer, collection: Collection, bytes: Uint8Array): void {
  const document = decode(bytes);
  if (Object.keys(document)[0] === '_id') store(writer, collection, document, bytes);
  else insertDocument(writer, collection, document);
}

/** Stores a decoded document, with a new _id if it has none, and returns the stored document. */
function insertDocument(writer: Writer, collection: Collection, document: Document): Document {
  // mongod stores _id as the first field.
  const complete: Document = { _id: Object.hasOwn(document, '_id') ? document._id : new ObjectId() };
  for (const key of Object.keys(document)) setOwn(complete, key, document[key]);
  store(writer, collection, complete, encode(complete));
  return complete;
}

function store(writer: Writer, collection: Collection, document: Document, bytes: Uint8Array): void {
  const { _id: id } = document;
  if (Array.isArray(id) || id instanceof BSONRegExp || id === undefined)
    throw new CommandError(53, "The '_id' value cannot be an array, a regular expression or undefined");
  if (isOperatorDocument(id))
    throw new CommandError(52, `_id fields may not contain '$'-prefixed fields: ${Object.keys(id)[0]}`);
  checkStorable(document);
  collection.insert(writer, document, bytes);
}

export interface UpdateStatement {
  query: QuerySpec;
  update: Update;
  upsert: boolean;
}

export interface UpdateOutcome {
  matched: number;
  modified: number;
  /** The last record that matched, before and after the update, also where it changed nothing. */
  before?: Document;
  after?: Document;
  /** The document of an upsert. */
  inserted?: Document;
}

/** Runs one update statement. Documents that were changed before an error stay changed, as in mongod. */
export function updateRecords(
  writer: Writer,
  collection: Collection,
  { query, update, upsert }: UpdateStatement,
): UpdateOutcome {
  // All are found first: a scan must not find a document again that the update has moved ahead in its index.
  const found = [...findRecords(writer, collection, query)];
  const outcome: UpdateOutcome = { matched: found.length, modified: 0 };
  for (const { recordId, bytes, document } of found) {
    outcome.before = document ?? decode(bytes);
    outcome.after = applyUpdate(update, decode(bytes), false);
    const changed = encode(outcome.after);
    if (changed.equals(bytes)) continue;
    checkStorable(outcome.after);
    collection.replace(writer, recordId, outcome.before, outcome.after, changed);
    outcome.modified++;
  }
  if (found.length === 0 && upsert)
    outcome.inserted = upsertDocument(writer, collection, query.filter, update);
  return outcome;
}

/** Removes the records of a query. @returns how many, and the last of them */
export function removeRecords(
  writer: Writer,
  collection: Collection,
  query: QuerySpec,
): { removed: number; last?: Document } {
  const found = [...findRecords(writer, collection, query)];
  let last: Document | undefined;
  for (const { recordId, bytes, document } of found) {
    last = document ?? decode(bytes);
    collection.remove(writer, recordId, last);
  }
  return { removed: found.length, last };
}

/**
 * Inserts the document of an upsert, the equalities of the filter with the update ("Upsert Behavior" of
 * update in the manual), and returns the stored document. Throws NotSingleValueField (54) if the filter has
 * two values for one path.
 */
function upsertDocument(
  writer: Writer,
  collection: Collection,
  filter: FilterNode,
  update: Update,
): Document {
  const base: Document = {};
  const paths: string[] = [];
  for (const node of conjunctsOf(filter)) {
    if (node.kind !== 'in' || node.values.length !== 1) continue;
    const name = node.path.join('.');
    const other = paths.find((path) => `${name}.`.startsWith(`${path}.`) || path.startsWith(`${name}.`));
    if (other !== undefined)
      throw new CommandError(54, `cannot infer query fields to set, '${other}' and '${name}' both match`);
    paths.push(name);
    writeSlot(slotAt(base, node.path, true), node.values[0]);
  }
  return insertDocument(writer, collection, applyUpdate(update, base, true));
}
