import { Long } from 'bson';
import { parsePipeline, runPipeline } from '../aggregate/pipeline.js';
import { type Found, findDocuments, findRecords, type QuerySpec } from '../indexes/find-records.js';
import { parseFilter } from '../query/filter.js';
import { compileProjection, type Projector } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import { decode, encode } from '../values/bson-types.js';
import { typeMismatch } from '../values/errors.js';
import { parsePath, someAtPath } from '../values/field-path.js';
import { keyText } from '../values/key-encoding.js';
import {
  batchSizeOption,
  booleanOption,
  type Command,
  collectionOf,
  countOption,
  cursorBatchSize,
  encodeAll,
  namespaceOf,
} from './command.js';

function* project(found: Iterable<Found>, projector: Projector | undefined): Generator<Uint8Array> {
  for (const { bytes, document } of found)
    yield projector ? encode(projector(document ?? decode(bytes))) : bytes;
}

const find: Command = {
  fields: ['filter', 'projection', 'sort', 'skip', 'limit', 'batchSize', 'singleBatch', 'maxTimeMS'],
  run(call) {
    const { engine, command } = call;
    const query: QuerySpec = {
      filter: parseFilter(command.filter ?? {}),
      sort: parseSort(command.sort),
      skip: countOption(command.skip, 'skip'),
      limit: countOption(command.limit, 'limit'),
    };
    const projector = compileProjection(command.projection);
    const collection = collectionOf(call);
    const found = collection ? findRecords(engine.storage, collection, query) : [];
    return engine.cursors.first(
      namespaceOf(call),
      project(found, projector),
      batchSizeOption(command.batchSize),
      booleanOption(command.singleBatch, 'singleBatch'),
    );
  },
};

const getMore: Command = {
  fields: ['collection', 'batchSize'],
  run({ engine, database, command }) {
    if (typeof command.collection !== 'string') throw typeMismatch("Field 'collection' must be a string");
    if (!(command.getMore instanceof Long)) throw typeMismatch('a cursor id must be a 64-bit integer');
    const namespace = `${database}.${command.collection}`;
    return engine.cursors.next(command.getMore.toBigInt(), namespace, batchSizeOption(command.batchSize));
  },
};

/** Of the whole collection: the count of a query is an aggregation in today's drivers. */
const count: Command = {
  fields: ['maxTimeMS'],
  run: (call) => ({ n: collectionOf(call)?.count(call.engine.storage) ?? 0, ok: 1 }),
};

const distinct: Command = {
  fields: ['key', 'query', 'maxTimeMS'],
  run(call) {
    const { key, query } = call.command;
    if (typeof key !== 'string') throw typeMismatch("Field 'key' must be a string");
    const path = parsePath(key);
    const filter = parseFilter(query ?? {});
    const collection = collectionOf(call);
    const values = new Map<string, unknown>();
    if (collection)
      for (const document of findDocuments(call.engine.storage, collection, { filter }))
        someAtPath(document, path, (value) => {
          for (const item of Array.isArray(value) ? value : [value])
            if (item !== undefined) values.set(keyText(item), item);
          return false;
        });
    return { values: [...values.values()], ok: 1 };
  },
};

const aggregate: Command = {
  fields: ['pipeline', 'cursor', 'maxTimeMS'],
  run(call) {
    const { engine, database, command } = call;
    const pipeline = parsePipeline(command.pipeline);
    const results = runPipeline(collectionOf(call), pipeline, {
      reader: engine.storage,
      collection: (name) => engine.catalog.find(database, name),
    });
    return engine.cursors.first(namespaceOf(call), encodeAll(results), cursorBatchSize(call));
  },
};

export const readCommands: Record<string, Command> = { find, getMore, count, distinct, aggregate };
