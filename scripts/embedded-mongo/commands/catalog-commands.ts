import { Long } from 'bson';
import { ID_INDEX, parseIndexSpec } from '../indexes/index-spec.js';
import { parseFilter } from '../query/filter.js';
import { compileMatcher } from '../query/matcher.js';
import { type Collection, type Index, identRange, trailingRecordId } from '../storage/collection.js';
import type { Reader, Writer } from '../storage/storage.js';
import { compareValues, equalValues } from '../values/bson-order.js';
import { type Document, decode, encode, isDocument } from '../values/bson-types.js';
import { CommandError, notServed, typeMismatch } from '../values/errors.js';
import { booleanOption, type CommandCall, type CommandHandler, collectionName, write } from './command.js';
import { COLLECTION_OPTIONS } from './known-fields.js';
import { cursorBatchSize, cursorReply } from './read-commands.js';

/** Whether an option of create asks for anything but a plain collection. */
function isSpecial(option: string, value: unknown): boolean {
  if (value === undefined || value === false) return false;
  return !(option === 'idIndex' && isDocument(value) && equalValues(value.key, ID_INDEX.key));
}

const REFUSED = [
  ...['collMod', 'renameCollection', 'cloneCollectionAsCapped', 'convertToCapped', 'compact', 'validate'],
  ...['collStats', 'collstats', 'dbStats', 'dbstats', 'dataSize', 'dbHash', 'top', 'currentOp', 'killOp'],
  ...['bulkWrite', 'reIndex', 'profile', 'fsync'],
];

function* encoded(documents: Iterable<Document>): Generator<Uint8Array> {
  for (const document of documents) yield encode(document);
}

function existing(call: CommandCall): Collection {
  const name = collectionName(call);
  const collection = call.engine.catalog.find(call.database, name);
  if (!collection) throw new CommandError(26, `ns does not exist: ${call.database}.${name}`);
  return collection;
}

const create: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const name = collectionName(call);
  const option = COLLECTION_OPTIONS.find((option) => isSpecial(option, command[option]));
  return write(call, (writer) => {
    if (option && engine.catalog.find(database, name))
      throw new CommandError(
        48,
        `namespace ${database}.${name} already exists, but with different options: it has no '${option}'`,
      );
    if (option) throw notServed(`the collection option '${option}'`);
    engine.catalog.ensure(writer, database, name);
    return { ok: 1 };
  });
};

const drop: CommandHandler = (call) => {
  const { engine, database } = call;
  const name = collectionName(call);
  return write(call, (writer) => {
    const collection = engine.catalog.find(database, name);
    if (!collection) return { ok: 1 };
    engine.catalog.drop(writer, collection);
    return { nIndexesWas: collection.indexes.length, ns: collection.namespace, ok: 1 };
  });
};

const dropDatabase: CommandHandler = (call) =>
  write(call, (writer) => {
    const { engine, database } = call;
    const collections = engine.catalog.inDatabase(database);
    for (const collection of collections) engine.catalog.drop(writer, collection);
    return collections.length > 0 ? { dropped: database, ok: 1 } : { ok: 1 };
  });

const listCollections: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const nameOnly = booleanOption(command.nameOnly, 'nameOnly');
  const matches = compileMatcher(parseFilter(command.filter ?? {}));
  const collections = engine.catalog
    .inDatabase(database)
    .map(({ name }) => ({
      name,
      type: 'collection',
      ...(nameOnly ? {} : { options: {}, info: { readOnly: false }, idIndex: ID_INDEX }),
    }))
    .filter(matches);
  const namespace = `${database}.$cmd.listCollections`;
  return cursorReply(call, namespace, encoded(collections), cursorBatchSize(call));
};

const listDatabases: CommandHandler = ({ engine, command }) => {
  const matches = compileMatcher(parseFilter(command.filter ?? {}));
  const nameOnly = booleanOption(command.nameOnly, 'nameOnly');
  const databases = engine.catalog
    .databases()
    .map((name) => (nameOnly ? { name } : { name, sizeOnDisk: Long.fromNumber(0), empty: false }))
    .filter(matches);
  return { databases, ...(nameOnly ? {} : { totalSize: Long.fromNumber(0) }), ok: 1 };
};

const listIndexes: CommandHandler = (call) => {
  const collection = existing(call);
  const indexes = encoded(collection.indexes.map(({ spec }) => spec.document));
  return cursorReply(call, collection.namespace, indexes, cursorBatchSize(call));
};

/** The index that a specification names again; undefined for a new one. Throws 85 or 86 when they contradict. */
function sameIndex(collection: Collection, spec: Index['spec']): Index | undefined {
  for (const index of collection.indexes) {
    const sameKey = equalValues(index.spec.document.key, spec.document.key);
    if (!sameKey && index.spec.name !== spec.name) continue;
    const { key: _key, name: _name, v: _v, ...options } = spec.document;
    const { key: _otherKey, name: _otherName, v: _otherV, ...otherOptions } = index.spec.document;
    const sameOptions = compareValues(byName(options), byName(otherOptions)) === 0;
    if (!sameKey)
      throw new CommandError(
        86,
        `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Requested index: ${spec.name}`,
      );
    if (index.spec.name !== spec.name && sameOptions)
      throw new CommandError(85, `Index already exists with a different name: ${index.spec.name}`);
    if (sameOptions) return index;
    if (index.spec.name === spec.name || !('partialFilterExpression' in options))
      throw new CommandError(
        index.spec.name === spec.name ? 86 : 85,
        `An equivalent index already exists with the same name but different options. Requested index: ${spec.name}`,
      );
  }
  return undefined;
}

/** Options in order of name, without those that say what holds anyway. */
function byName(options: Document): Document {
  return Object.fromEntries(
    Object.entries(options)
      .filter(([, value]) => value !== false && value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const BUILD_STEP = 1000;

/** Fills a new index from the records that are there. Throws DuplicateKey (11000) before the index is used. */
function buildIndex(writer: Writer, reader: Reader, collection: Collection, index: Index): void {
  const range = identRange(collection.ident);
  for (let { start } = range; ; ) {
    const entries = reader.entries({ ...range, start }, BUILD_STEP);
    for (const { key, value } of entries)
      collection.indexRecord(writer, index, trailingRecordId(key), decode(value));
    const last = entries.at(-1);
    if (!last || entries.length < BUILD_STEP) return;
    start = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

const createIndexes: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const name = collectionName(call);
  if (!Array.isArray(command.indexes) || command.indexes.length === 0)
    throw new CommandError(2, 'Must specify at least one index to create');
  if (command.commitQuorum !== undefined) throw new CommandError(2, "Standalones can't specify commitQuorum");
  if (booleanOption(command.ignoreUnknownIndexOptions, 'ignoreUnknownIndexOptions'))
    throw notServed("the createIndexes option 'ignoreUnknownIndexOptions'");
  const specs = command.indexes.map(parseIndexSpec);
  return write(call, (writer, reader) => {
    const createdCollectionAutomatically = !engine.catalog.find(database, name);
    const collection = engine.catalog.ensure(writer, database, name);
    const numIndexesBefore = collection.indexes.length;
    const added: Index[] = [];
    for (const spec of specs) {
      if (sameIndex(collection, spec)) continue;
      if (collection.indexes.length >= 64)
        throw new CommandError(67, `add index fails, too many indexes for ${collection.namespace}`);
      const index = engine.catalog.addIndex(writer, collection, spec);
      added.push(index);
      try {
        buildIndex(writer, reader, collection, index);
      } catch (error) {
        // All or none of a command's indexes.
        for (const index of added) engine.catalog.removeIndex(writer, collection, index);
        throw error;
      }
    }
    const note = added.length === 0 ? { note: 'all indexes already exist' } : {};
    return {
      numIndexesBefore,
      numIndexesAfter: collection.indexes.length,
      createdCollectionAutomatically,
      ...note,
      ok: 1,
    };
  });
};

const dropIndexes: CommandHandler = (call) => {
  const { engine, command } = call;
  return write(call, (writer) => {
    const collection = existing(call);
    const nIndexesWas = collection.indexes.length;
    for (const index of indexesToDrop(collection, command.index))
      engine.catalog.removeIndex(writer, collection, index);
    return { nIndexesWas, ok: 1 };
  });
};

/** Throws IndexNotFound (27), and InvalidOptions (72) for the index on _id. */
function indexesToDrop(collection: Collection, wanted: unknown): Index[] {
  const others = collection.indexes.filter(({ spec }) => spec.name !== '_id_');
  if (wanted === '*') return others;
  const named = Array.isArray(wanted) ? wanted : [wanted];
  return named.map((name) => {
    if (typeof name !== 'string' && !isDocument(name))
      throw typeMismatch("Field 'index' must be a name or a key pattern");
    const index = collection.indexes.find(({ spec }) =>
      isDocument(name) ? equalValues(spec.document.key, name) : spec.name === name,
    );
    if (!index)
      throw new CommandError(
        27,
        `index not found with name [${isDocument(name) ? JSON.stringify(name) : name}]`,
      );
    if (index.spec.name === '_id_') throw new CommandError(72, 'cannot drop _id index');
    return index;
  });
}

/** Commands of MongoDB that look into or reshape collections and that this server does not have. */
const refused: CommandHandler = ({ command }) => {
  throw notServed(`the command ${Object.keys(command)[0]}`);
};

export const catalogCommands: Record<string, CommandHandler> = {
  create,
  drop,
  dropDatabase,
  listCollections,
  listDatabases,
  listIndexes,
  createIndexes,
  dropIndexes,
  deleteIndexes: dropIndexes,
  ...Object.fromEntries(REFUSED.map((name) => [name, refused])),
};
