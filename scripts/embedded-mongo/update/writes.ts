import { BSONRegExp, ObjectId } from 'bson';
import { conjunctsOf, type FilterNode } from '../query/filter.js';
import { type Found, findRecords } from '../query/find-records.js';
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
  filter: FilterNode;
  update: Update;
  multi: boolean;
  upsert: boolean;
}

/**
 * Runs one statement of an update command. Documents that were changed before an error stay changed, as in mongod.
 * @returns how many matched and changed, and the document that was inserted, if one was
 */
export function updateRecords(
  writer: Writer,
  collection: Collection,
  statement: UpdateStatement,
): { matched: number; modified: number; inserted?: Document } {
  const { filter, multi, upsert } = statement;
  const query = { filter, sort: [], skip: 0, limit: multi ? 0 : 1 };
  // All are found first: a scan must not find a document again that the update has moved ahead in its index.
  const found = [...findRecords(writer, collection, query)];
  let modified = 0;
  for (const record of found)
    if (updateOne(writer, collection, record, statement.update).modified) modified++;
  if (found.length > 0 || !upsert) return { matched: found.length, modified };
  return { matched: 0, modified: 0, inserted: upsertDocument(writer, collection, statement) };
}

/** Applies an update to one found record. */
export function updateOne(
  writer: Writer,
  collection: Collection,
  record: Found,
  update: Update,
): { modified: boolean; before: Document; after: Document } {
  const before = record.document ?? decode(record.bytes);
  const after = applyUpdate(update, decode(record.bytes), false);
  const bytes = encode(after);
  const modified = !bytes.equals(record.bytes);
  if (modified) {
    checkStorable(after);
    collection.replace(writer, record.recordId, before, after, bytes);
  }
  return { modified, before, after };
}

/**
 * Inserts the document of an upsert, the equalities of the filter with the update ("Upsert Behavior" of
 * update in the manual), and returns the stored document. Throws NotSingleValueField (54) if the filter has
 * two values for one path.
 */
export function upsertDocument(
  writer: Writer,
  collection: Collection,
  { filter, update }: Pick<UpdateStatement, 'filter' | 'update'>,
): Document {
  const base: Document = {};
  const paths: string[] = [];
  for (const node of conjunctsOf(filter)) {
    if (node.kind !== 'in' || node.values.length !== 1) continue;
    const name = node.path.join('.');
    const other = paths.find((path) => `${name}.`.startsWith(`${path}.`) || path.startsWith(`${name}.`));
    if (other !== undefined)
      throw new CommandError(
        54,
        `cannot infer query fields to set, both '${other}' and '${name}' are matched`,
      );
    paths.push(name);
    writeSlot(slotAt(base, node.path, true), node.values[0]);
  }
  // For a replacement, only _id is taken from the filter.
  const isWhole = update.kind === 'replacement';
  const start = isWhole && Object.hasOwn(base, '_id') ? { _id: base._id } : isWhole ? {} : base;
  return insertDocument(writer, collection, applyUpdate(update, start, true));
}
