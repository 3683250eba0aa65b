import { integerOption, parseFilter } from '../query/filter.js';
import { findRecords } from '../query/find-records.js';
import { compileProjection } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import { parseUpdate } from '../update/update.js';
import {
  insertDocument,
  insertOne,
  type UpdateStatement,
  updateOne,
  updateRecords,
  upsertDocument,
} from '../update/writes.js';
import { type Document, decode } from '../values/bson-types.js';
import { asCommandError, CommandError, failedToParse } from '../values/errors.js';
import {
  booleanOption,
  type CommandCall,
  type CommandHandler,
  checkBatch,
  collectionName,
  documentsOf,
  statementsOf,
  write,
} from './command.js';
import { refuseUnknownFields } from './known-fields.js';
import { hintOf } from './read-commands.js';

interface WriteError {
  index: number;
  code: number;
  errmsg: string;
}

/** Beyond this much error text a reply only has codes, so that it fits a message; mongod does the same. */
const MAX_ERROR_TEXT = 1024 * 1024;

/** Runs statements one after another; with `ordered` the first error ends it. Every error carries its index. */
function runStatements<T>(
  statements: readonly T[],
  ordered: boolean,
  run: (statement: T, index: number) => void,
): WriteError[] {
  const errors: WriteError[] = [];
  let textBytes = 0;
  for (const [index, statement] of statements.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      if (!isStatementError(error)) throw error;
      const known = asCommandError(error);
      textBytes += known.message.length;
      const told = textBytes < MAX_ERROR_TEXT;
      errors.push({
        index,
        code: known.code,
        errmsg: told ? known.message : '',
        ...(told ? known.details : {}),
      });
      if (ordered) break;
    }
  }
  return errors;
}

/** Errors of a document, to be told apart from those of the store, which fail the whole command. */
function isStatementError(error: unknown): boolean {
  return (
    error instanceof CommandError ||
    error instanceof RangeError ||
    (error instanceof Error && error.name.startsWith('BSON'))
  );
}

function isOrdered(call: CommandCall): boolean {
  return call.command.ordered === undefined || booleanOption(call.command.ordered, 'ordered');
}

function writeReply(counts: Document, errors: readonly WriteError[]): Document {
  return { ...counts, ...(errors.length > 0 ? { writeErrors: errors } : {}), ok: 1 };
}

const insert: CommandHandler = (call) => {
  const { engine, database } = call;
  const name = collectionName(call);
  const documents = documentsOf(call, 'documents');
  checkBatch(documents.length);
  const ordered = isOrdered(call);
  return write(call, (writer) => {
    const collection = engine.catalog.ensure(writer, database, name);
    let inserted = 0;
    const errors = runStatements(documents, ordered, (bytes) => {
      insertOne(writer, collection, bytes);
      inserted++;
    });
    return writeReply({ n: inserted }, errors);
  });
};

function parseStatement(statement: Document): UpdateStatement {
  const filter = parseFilter(statement.q);
  const update = parseUpdate(statement.u);
  const multi = booleanOption(statement.multi, 'multi');
  const sort = parseSort(statement.sort);
  if (multi && sort.length > 0) throw failedToParse('Cannot specify sort with multi=true');
  if (multi && update.kind === 'replacement')
    throw failedToParse('multi update is not supported for replacement-style update');
  return {
    filter,
    update,
    multi,
    sort,
    upsert: booleanOption(statement.upsert, 'upsert'),
    hint: hintOf(statement),
  };
}

const update: CommandHandler = (call) => {
  const { engine, database } = call;
  const name = collectionName(call);
  const statements = statementsOf(call, 'updates', decode);
  checkBatch(statements.length);
  const ordered = isOrdered(call);
  return write(call, (writer, reader) => {
    let matched = 0;
    let modified = 0;
    const upserted: Document[] = [];
    const errors = runStatements(statements, ordered, (document, index) => {
      refuseUnknownFields('update.updates', document);
      const statement = parseStatement(document);
      const collection = statement.upsert
        ? engine.catalog.ensure(writer, database, name)
        : engine.catalog.find(database, name);
      if (!collection) return;
      const outcome = updateRecords(writer, collection, statement, reader);
      matched += outcome.matched;
      modified += outcome.modified;
      if ('upsertedId' in outcome) upserted.push({ index, _id: outcome.upsertedId });
    });
    const counts: Document = { n: matched + upserted.length, nModified: modified };
    if (upserted.length > 0) counts.upserted = upserted;
    return writeReply(counts, errors);
  });
};

const remove: CommandHandler = (call) => {
  const { engine, database } = call;
  const name = collectionName(call);
  const statements = statementsOf(call, 'deletes', decode);
  checkBatch(statements.length);
  const ordered = isOrdered(call);
  return write(call, (writer, reader) => {
    let removed = 0;
    const errors = runStatements(statements, ordered, (statement) => {
      refuseUnknownFields('delete.deletes', statement);
      const filter = parseFilter(statement.q);
      if (statement.limit === undefined)
        throw new CommandError(40414, "BSON field 'delete.deletes.limit' is missing but a required field");
      const limit = integerOption(statement.limit, 'limit', 0);
      if (limit !== 0 && limit !== 1)
        throw failedToParse(`The limit field in delete objects must be 0 or 1. Got ${limit}`);
      const collection = engine.catalog.find(database, name);
      if (!collection) return;
      const found = [
        ...findRecords(reader, collection, { filter, sort: [], skip: 0, limit, hint: hintOf(statement) }),
      ];
      for (const { recordId, bytes, document } of found) {
        collection.remove(writer, recordId, document ?? decode(bytes));
        removed++;
      }
    });
    return writeReply({ n: removed }, errors);
  });
};

const findAndModify: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const name = collectionName(call);
  const removes = booleanOption(command.remove, 'remove');
  const wantsNew = booleanOption(command.new, 'new');
  const upsert = booleanOption(command.upsert, 'upsert');
  if (removes && command.update !== undefined)
    throw failedToParse('Cannot specify both an update and remove=true');
  if (removes && upsert) throw failedToParse('Cannot specify both upsert=true and remove=true');
  if (removes && wantsNew)
    throw failedToParse(
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    );
  if (!removes && command.update === undefined)
    throw failedToParse('Either an update or remove=true must be specified');
  const filter = parseFilter(command.query ?? {});
  const projector = compileProjection(command.fields) ?? ((document: Document) => document);
  const query = { filter, sort: parseSort(command.sort), skip: 0, limit: 1, hint: hintOf(command) };
  const statement = removes
    ? undefined
    : parseStatement({
        q: command.query ?? {},
        u: command.update,
        upsert: command.upsert,
      });
  return write(call, (writer, reader) => {
    const collection = engine.catalog.find(database, name);
    const [found] = collection ? findRecords(reader, collection, query) : [];
    if (collection && found && !statement) {
      const before = found.document ?? decode(found.bytes);
      collection.remove(writer, found.recordId, before);
      return { lastErrorObject: { n: 1 }, value: projector(before), ok: 1 };
    }
    if (collection && found && statement) {
      const { before, after } = updateOne(writer, collection, found, statement);
      return {
        lastErrorObject: { n: 1, updatedExisting: true },
        value: projector(wantsNew ? after : before),
        ok: 1,
      };
    }
    if (!statement?.upsert)
      return { lastErrorObject: statement ? { n: 0, updatedExisting: false } : { n: 0 }, value: null, ok: 1 };
    const inserted = upsertDocument(statement);
    const target = collection ?? engine.catalog.ensure(writer, database, name);
    const id = insertDocument(writer, target, inserted);
    const value = wantsNew ? projector({ _id: id, ...inserted }) : null;
    return { lastErrorObject: { n: 1, updatedExisting: false, upserted: id }, value, ok: 1 };
  });
};

export const writeCommands: Record<string, CommandHandler> = {
  insert,
  update,
  delete: remove,
  findAndModify,
  findandmodify: findAndModify,
};
