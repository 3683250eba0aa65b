import { parseFilter } from '../query/filter.js';
import { compileProjection } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import { withinTime } from '../query/time-limit.js';
import type { Collection } from '../storage/collection.js';
import type { Writer } from '../storage/storage.js';
import { parseUpdate } from '../update/update.js';
import { insertOne, removeRecords, type UpdateOutcome, updateRecords } from '../update/writes.js';
import { type Document, decode, encode, isDocument } from '../values/bson-types.js';
import { asCommandError, CommandError, failedToParse, isRequestError } from '../values/errors.js';
import {
  booleanOption,
  type Command,
  type CommandCall,
  collectionName,
  collectionOf,
  countOption,
  refuseOtherFields,
} from './command.js';

/** Most statements of one command: `maxWriteBatchSize` of hello. */
export const MAX_BATCH = 100_000;

/** Most characters of error text in a reply; further errors have codes only, as in mongod. */
const MAX_ERROR_TEXT = 1024 * 1024;

/** The encoded statements of a write command, from a document sequence or an array. Throws InvalidLength (16). */
function statementsOf({ command, sequences }: CommandCall, field: string): readonly Buffer[] {
  const array = command[field];
  const statements =
    sequences.get(field) ?? (Array.isArray(array) && array.every(isDocument) && array.map(encode));
  if (!statements) throw new CommandError(40414, `BSON field '${field}' must be an array of documents`);
  if (statements.length < 1 || statements.length > MAX_BATCH)
    throw new CommandError(16, `A batch must be between 1 and ${MAX_BATCH}. Got ${statements.length}`);
  return statements;
}

/**
 * Runs statements one after another; with `ordered` (the default) the first error ends it. Every error carries its
 * index; errors of the store fail the whole command.
 * @returns the reply's `writeErrors`, if there are any
 */
function runStatements(
  { command }: CommandCall,
  statements: readonly Buffer[],
  run: (statement: Buffer, index: number) => void,
): { writeErrors?: Document[] } {
  const ordered = command.ordered === undefined || booleanOption(command.ordered, 'ordered');
  const errors: Document[] = [];
  let textBytes = 0;
  for (const [index, statement] of statements.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      if (!isRequestError(error)) throw error;
      const { code, message, details } = asCommandError(error);
      textBytes += message.length;
      errors.push(
        textBytes < MAX_ERROR_TEXT
          ? { index, code, errmsg: message, ...details }
          : { index, code, errmsg: '' },
      );
      if (ordered) break;
    }
  }
  return errors.length > 0 ? { writeErrors: errors } : {};
}

const insert: Command = {
  fields: ['documents', 'ordered'],
  run(call) {
    const { engine, database } = call;
    const documents = statementsOf(call, 'documents');
    return engine.storage.write((writer) => {
      const collection = engine.catalog.ensure(writer, database, collectionName(call));
      let n = 0;
      const errors = runStatements(call, documents, (bytes) => {
        insertOne(writer, collection, bytes);
        n++;
      });
      return { n, ...errors, ok: 1 };
    });
  },
};

/** The collection to update; an upsert creates a missing one. */
function collectionFor(call: CommandCall, writer: Writer, upsert: boolean): Collection | undefined {
  if (!upsert) return collectionOf(call);
  return call.engine.catalog.ensure(writer, call.database, collectionName(call));
}

const update: Command = {
  fields: ['updates', 'ordered'],
  run(call) {
    const statements = statementsOf(call, 'updates');
    return call.engine.storage.write((writer) => {
      let matched = 0;
      let nModified = 0;
      const upserted: Document[] = [];
      const errors = runStatements(call, statements, (bytes, index) => {
        const document = decode(bytes);
        refuseOtherFields('updates', document, ['q', 'u', 'multi', 'upsert']);
        const filter = parseFilter(document.q);
        const update = parseUpdate(document.u);
        const multi = booleanOption(document.multi, 'multi');
        const upsert = booleanOption(document.upsert, 'upsert');
        if (multi && update.kind === 'replacement')
          throw failedToParse('multi update is not supported for replacement-style update');
        const collection = collectionFor(call, writer, upsert);
        if (!collection) return;
        const query = { filter, limit: multi ? 0 : 1 };
        const outcome = updateRecords(writer, collection, { query, update, upsert });
        matched += outcome.matched;
        nModified += outcome.modified;
        if (outcome.inserted) upserted.push({ index, _id: outcome.inserted._id });
      });
      const n = matched + upserted.length;
      return { n, nModified, ...(upserted.length > 0 ? { upserted } : {}), ...errors, ok: 1 };
    });
  },
};

const remove: Command = {
  fields: ['deletes', 'ordered'],
  run(call) {
    const statements = statementsOf(call, 'deletes');
    return call.engine.storage.write((writer) => {
      let n = 0;
      const errors = runStatements(call, statements, (bytes) => {
        const statement = decode(bytes);
        refuseOtherFields('deletes', statement, ['q', 'limit']);
        const filter = parseFilter(statement.q);
        const limit = countOption(statement.limit, 'limit');
        if (limit > 1 || statement.limit === undefined)
          throw failedToParse(`The limit field in delete objects must be 0 or 1. Got ${statement.limit}`);
        const collection = collectionOf(call);
        if (collection) n += removeRecords(writer, collection, { filter, limit }).removed;
      });
      return { n, ...errors, ok: 1 };
    });
  },
};

/** The document of a findAndModify's reply, and its `lastErrorObject`. */
type Modified = [value: Document | undefined, lastErrorObject: Document];

function updateFound({ before, after, inserted }: UpdateOutcome, wantsNew: boolean): Modified {
  const upserted = inserted ? { upserted: inserted._id } : {};
  return [
    wantsNew ? (after ?? inserted) : before,
    { n: after || inserted ? 1 : 0, updatedExisting: after !== undefined, ...upserted },
  ];
}

const findAndModify: Command = {
  fields: ['query', 'sort', 'remove', 'update', 'new', 'fields', 'upsert', 'maxTimeMS'],
  run(call) {
    const { engine, command } = call;
    const removes = booleanOption(command.remove, 'remove');
    const wantsNew = booleanOption(command.new, 'new');
    const upsert = booleanOption(command.upsert, 'upsert');
    if (removes === (command.update !== undefined))
      throw failedToParse('Either an update or remove=true must be specified, and not both');
    if (removes && (upsert || wantsNew))
      throw failedToParse('Cannot specify upsert=true or new=true with remove=true');
    const query = { filter: parseFilter(command.query ?? {}), sort: parseSort(command.sort), limit: 1 };
    const update = removes ? undefined : parseUpdate(command.update);
    const project = compileProjection(command.fields);
    const modify = (writer: Writer): Modified => {
      const collection = collectionFor(call, writer, upsert);
      if (update && collection)
        return updateFound(updateRecords(writer, collection, { query, update, upsert }), wantsNew);
      if (update) return [undefined, { n: 0, updatedExisting: false }];
      const { removed = 0, last } = collection ? removeRecords(writer, collection, query) : {};
      return [last, { n: removed }];
    };
    const limit = countOption(command.maxTimeMS, 'maxTimeMS');
    return engine.storage.write((writer) => {
      const [value, lastErrorObject] = withinTime(limit, () => modify(writer));
      return { lastErrorObject, value: value && project ? project(value) : (value ?? null), ok: 1 };
    });
  },
};

export const writeCommands: Record<string, Command> = { insert, update, delete: remove, findAndModify };
