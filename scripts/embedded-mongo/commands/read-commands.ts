import { integerOption, parseFilter } from '../query/filter.js';
import { countRecords, type Found, findRecords, type QuerySpec } from '../query/find-records.js';
import { compileProjection, type Projector } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import { type Document, decode, encode, isDocument } from '../values/bson-types.js';
import { badValue, CommandError, notServed, typeMismatch } from '../values/errors.js';
import { parsePath, someAtPath } from '../values/field-path.js';
import { encodeValue } from '../values/key-encoding.js';
import { CursorReply } from '../wire/messages.js';
import {
  booleanOption,
  type CommandCall,
  type CommandHandler,
  collectionName,
  cursorIdOf,
  readerOf,
} from './command.js';
import { refuseUnknownFields } from './known-fields.js';

const NOT_SERVED = ['min', 'max', 'returnKey', 'showRecordId', 'tailable', 'awaitData', 'noCursorTimeout'];

/** Parses what find and explain share. Throws BadValue and its kin. */
export function parseFind(command: Document): { query: QuerySpec; projector: Projector | undefined } {
  for (const option of NOT_SERVED)
    if (command[option] !== undefined && command[option] !== false)
      throw notServed(`the find option '${option}'`);
  const filter = parseFilter(command.filter ?? {});
  const skip = countOption(command.skip, 'skip');
  const limit = countOption(command.limit, 'limit');
  const hint = hintOf(command);
  return {
    query: { filter, sort: parseSort(command.sort), skip, limit, hint },
    projector: compileProjection(command.projection),
  };
}

/** The hint of a command; an empty one is none. */
export function hintOf(command: Document): unknown {
  const { hint } = command;
  if (hint === undefined || hint === null || hint === '') return undefined;
  if (typeof hint !== 'string' && !isDocument(hint)) throw badValue('hint must be a string or an object');
  return isDocument(hint) && Object.keys(hint).length === 0 ? undefined : hint;
}

function* project(found: Generator<Found>, projector: Projector | undefined): Generator<Uint8Array> {
  for (const { bytes, document } of found)
    yield projector ? encode(projector(document ?? decode(bytes))) : bytes;
}

function* nothing(): Generator<never> {}

/** The batch size in a command's `cursor` document. Throws 40415 for what else stands there. */
export function cursorBatchSize({ command }: CommandCall): unknown {
  if (!isDocument(command.cursor)) return undefined;
  refuseUnknownFields(`${Object.keys(command)[0]}.cursor`, command.cursor);
  return command.cursor.batchSize;
}

function batchSizeOf(value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : countOption(value, 'batchSize');
}

/** An option that counts documents, 0 where it is not given. Throws 51024 below 0. */
function countOption(value: unknown, name: string): number {
  const count = integerOption(value, name, 0);
  if (count < 0)
    throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${count}'`);
  return count;
}

/** Answers a command that returns a cursor over encoded documents. */
export function cursorReply(
  call: CommandCall,
  namespace: string,
  documents: Generator<Uint8Array>,
  batchSize: unknown,
  single = false,
): CursorReply {
  const size = batchSizeOf(batchSize);
  const batch = call.engine.cursors.first(namespace, documents, size, single, call.limit);
  return new CursorReply(namespace, 'firstBatch', batch.cursorId, batch.documents);
}

const find: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const name = collectionName(call);
  const { query, projector } = parseFind(command);
  const collection = engine.catalog.find(database, name);
  const found = collection ? findRecords(readerOf(call), collection, query) : nothing();
  const single = booleanOption(command.singleBatch, 'singleBatch');
  return cursorReply(call, `${database}.${name}`, project(found, projector), command.batchSize, single);
};

const getMore: CommandHandler = ({ engine, database, command, limit }) => {
  if (limit) throw badValue('cannot set maxTimeMS on getMore command for a non-awaitData cursor');
  if (typeof command.collection !== 'string') throw typeMismatch("Field 'collection' must be a string");
  const namespace = `${database}.${command.collection}`;
  const batch = engine.cursors.next(cursorIdOf(command.getMore), namespace, batchSizeOf(command.batchSize));
  return new CursorReply(namespace, 'nextBatch', batch.cursorId, batch.documents);
};

const count: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const collection = engine.catalog.find(database, collectionName(call));
  const filter = parseFilter(command.query ?? {});
  const query: QuerySpec = {
    filter,
    sort: [],
    skip: countOption(command.skip, 'skip'),
    limit: Math.abs(integerOption(command.limit, 'limit', 0)),
    hint: hintOf(command),
  };
  return { n: collection ? countRecords(readerOf(call), collection, query) : 0, ok: 1 };
};

const distinct: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const collection = engine.catalog.find(database, collectionName(call));
  const { key } = command;
  if (typeof key !== 'string')
    throw typeMismatch("BSON field 'distinct.key' is the wrong type, expected type 'string'");
  const filter = parseFilter(command.query ?? {});
  const values = collection
    ? distinctValues(call, collection, key, { filter, sort: [], skip: 0, limit: 0, hint: hintOf(command) })
    : [];
  return { values, ok: 1 };
};

function distinctValues(call: CommandCall, collection: Collection, key: string, query: QuerySpec): unknown[] {
  const path = parsePath(key);
  const values = new Map<string, unknown>();
  const add = (value: unknown) => {
    if (value !== undefined) values.set(encodeValue(value).toString('latin1'), value);
  };
  for (const { bytes, document } of findRecords(readerOf(call), collection, query))
    someAtPath(document ?? decode(bytes), path, (value) => {
      if (Array.isArray(value)) value.forEach(add);
      else add(value);
      return false;
    });
  return [...values.values()];
}

export const readCommands: Record<string, CommandHandler> = { find, getMore, count, distinct };
