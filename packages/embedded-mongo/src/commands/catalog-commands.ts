import { parseFilter } from '../query/filter.js';
import { compileMatcher } from '../query/matcher.js';
import { type Collection, type Index, identRange, trailingRecordId } from '../storage/collection.js';
import { ID_INDEX, type IndexSpec, parseIndexSpec } from '../storage/index-spec.js';
import type { Writer } from '../storage/storage.js';
import { decode } from '../values/bson-types.js';
import { equalValues } from '../values/compare.js';
import { badValue, CommandError, notServed } from '../values/errors.js';
import {
  booleanOption,
  type Command,
  type CommandCall,
  collectionName,
  collectionOf,
  cursorBatchSize,
  encodeAll,
  namespaceOf,
} from './command.js';

/** The collection of a command. Throws NamespaceNotFound (26). */
function existing(call: CommandCall): Collection {
  const collection = collectionOf(call);
  if (!collection) throw new CommandError(26, `ns does not exist: ${namespaceOf(call)}`);
  return collection;
}

const create: Command = {
  fields: [],
  run: (call) =>
    call.engine.storage.write((writer) => {
      call.engine.catalog.ensure(writer, call.database, collectionName(call));
      return { ok: 1 };
    }),
};

const drop: Command = {
  fields: [],
  run: (call) =>
    call.engine.storage.write((writer) => {
      const collection = collectionOf(call);
      if (!collection) return { ok: 1 };
      call.engine.catalog.drop(writer, collection);
      return { nIndexesWas: collection.indexes.length, ns: collection.namespace, ok: 1 };
    }),
};

const dropDatabase: Command = {
  fields: [],
  run: ({ engine, database }) =>
    engine.storage.write((writer) => {
      for (const collection of engine.catalog.inDatabase(database)) engine.catalog.drop(writer, collection);
      return { dropped: database, ok: 1 };
    }),
};

const listCollections: Command = {
  fields: ['filter', 'nameOnly', 'authorizedCollections', 'cursor'],
  run(call) {
    const { engine, database, command } = call;
    const more = booleanOption(command.nameOnly, 'nameOnly')
      ? {}
      : { options: {}, info: { readOnly: false }, idIndex: ID_INDEX };
    const matches = compileMatcher(parseFilter(command.filter ?? {}));
    const collections = engine.catalog
      .inDatabase(database)
      .map(({ name }) => ({ name, type: 'collection', ...more }))
      .filter(matches);
    const namespace = `${database}.$cmd.listCollections`;
    return engine.cursors.first(namespace, encodeAll(collections), cursorBatchSize(call));
  },
};

const listIndexes: Command = {
  fields: ['cursor'],
  run(call) {
    const { namespace, indexes } = existing(call);
    const documents = encodeAll(indexes.map(({ spec }) => spec.document));
    return call.engine.cursors.first(namespace, documents, cursorBatchSize(call));
  },
};

/** Whether a collection has an index already. Throws 85 or 86 if another index has that key or name. */
function hasIndex(collection: Collection, spec: IndexSpec): boolean {
  return collection.indexes.some((index) => {
    const other = index.spec;
    const { partialFilterExpression, key } = other.document;
    const sameKey = equalValues(key, spec.document.key);
    const sameName = other.name === spec.name;
    const sameOptions =
      other.unique === spec.unique &&
      equalValues(partialFilterExpression, spec.document.partialFilterExpression);
    if (sameKey && sameName && sameOptions) return true;
    if (sameName)
      throw new CommandError(86, `An index '${spec.name}' exists with another key or other options`);
    if (sameKey) throw new CommandError(85, `Index already exists with a different name: ${other.name}`);
    return false;
  });
}

const BUILD_STEP = 1000;

/** Fills a new index from the existing records. Throws DuplicateKey (11000) before the index is used. */
function buildIndex(writer: Writer, collection: Collection, index: Index): void {
  const range = identRange(collection.ident);
  for (let { start } = range; ; ) {
    const entries = writer.entries({ ...range, start }, BUILD_STEP);
    for (const { key, value } of entries)
      collection.indexRecord(writer, index, trailingRecordId(key), decode(value));
    const last = entries.at(-1);
    if (!last || entries.length < BUILD_STEP) return;
    start = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

const createIndexes: Command = {
  fields: ['indexes'],
  run(call) {
    const { engine, database, command } = call;
    const { indexes } = command;
    if (!Array.isArray(indexes) || indexes.length === 0)
      throw badValue('Must specify at least one index to create');
    const specs = indexes.map(parseIndexSpec);
    return engine.storage.write((writer) => {
      const createdCollectionAutomatically = !collectionOf(call);
      const collection = engine.catalog.ensure(writer, database, collectionName(call));
      const numIndexesBefore = collection.indexes.length;
      const added: Index[] = [];
      try {
        for (const spec of specs) {
          if (hasIndex(collection, spec)) continue;
          if (collection.indexes.length >= 64)
            throw new CommandError(67, `add index fails, too many indexes for ${collection.namespace}`);
          const index = engine.catalog.addIndex(writer, collection, spec);
          added.push(index);
          buildIndex(writer, collection, index);
        }
      } catch (error) {
        // All or none of a command's indexes.
        for (const index of added) engine.catalog.removeIndex(writer, collection, index);
        throw error;
      }
      const numIndexesAfter = collection.indexes.length;
      return { numIndexesBefore, numIndexesAfter, createdCollectionAutomatically, ok: 1 };
    });
  },
};

const dropIndexes: Command = {
  fields: ['index'],
  run: (call) =>
    call.engine.storage.write((writer) => {
      const collection = existing(call);
      const { index: name } = call.command;
      if (typeof name !== 'string') throw notServed('dropIndexes by anything but a name');
      const nIndexesWas = collection.indexes.length;
      const dropped = collection.indexes.filter(({ spec }) =>
        name === '*' ? spec.name !== '_id_' : spec.name === name,
      );
      if (name !== '*' && dropped.length === 0)
        throw new CommandError(27, `index not found with name [${name}]`);
      if (name === '_id_') throw new CommandError(72, 'cannot drop _id index');
      for (const index of dropped) call.engine.catalog.removeIndex(writer, collection, index);
      return { nIndexesWas, ok: 1 };
    }),
};

export const catalogCommands: Record<string, Command> = {
  create,
  drop,
  dropDatabase,
  listCollections,
  listIndexes,
  createIndexes,
  dropIndexes,
};
