import { Long } from 'bson';
import { encodeResults, parsePipeline, runPipeline } from '../aggregate/pipeline.js';
import { parseFilter } from '../query/filter.js';
import { decoded, type Found, findRecords, type QuerySpec } from '../query/find-records.js';
import { compileProjection, type Projector } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import { decode, encode } from '../values/bson-types.js';
import { typeMismatch } from '../values/errors.js';
import { parsePath, someAtPath } from '../values/field-path.js';
import { keyText } from '../values/key-encoding.js';
import { CursorReply } from '../wire/messages.js';
import {
  batchSizeOption,
  booleanOption,
  type Command,
  collectionName,
  collectionOf,
  countOption,
  cursorBatchSize,
  cursorReply,
} from './command.js';

function* project(found: Iterable<Found>, projector: Projector | undefined): Generator<Uint8Array> {
  for (const { bytes, document } of found)
    yield projector ? encode(projector(document ?? decode(bytes))) : bytes;
}

const find: Command = {
  fields: ['filter', 'projection', 'sort', 'skip', 'limit', 'batchSize', 'singleBatch'],
  run(call) {
    const { engine, database, command } = call;
    const query: QuerySpec = {
      filter: parseFilter(command.filter ?? {}),
      sort: parseSort(command.sort),
      skip: countOption(command.skip, 'skip'),
      limit: countOption(command.limit, 'limit'),
    };
    const projector = compileProjection(command.projection);
    const namespace = `${database}.${collectionName(call)}`;
    const collection = collectionOf(call);
    const found = collection ? findRecords(engine.storage, collection, query) : [];
    const single = booleanOption(command.singleBatch, 'singleBatch');
    return cursorReply(
      call,
      namespace,
      project(found, projector),
      batchSizeOption(command.batchSize),
      single,
    );
  },
};

const getMore: Command = {
  fields: ['collection', 'batchSize'],
  run({ engine, database, command }) {
    if (typeof command.collection !== 'string') throw typeMismatch("Field 'collection' must be a string");
    if (!(command.getMore instanceof Long)) throw typeMismatch('a cursor id must be a 64-bit integer');
    const namespace = `${database}.${command.collection}`;
    const id = command.getMore.toBigInt();
    const batch = engine.cursors.next(id, namespace, batchSizeOption(command.batchSize));
    return new CursorReply(namespace, 'nextBatch', batch);
  },
};

/** Of the whole collection: the count of a query is an aggregation in today's drivers. */
const count: Command = {
  fields: [],
  run: (call) => ({ n: collectionOf(call)?.count(call.engine.storage) ?? 0, ok: 1 }),
};

const distinct: Command = {
  fields: ['key', 'query'],
  run(call) {
    const { key, query } = call.command;
    if (typeof key !== 'string') throw typeMismatch("Field 'key' must be a string");
    const path = parsePath(key);
    const filter = parseFilter(query ?? {});
    const collection = collectionOf(call);
    const values = new Map<string, unknown>();
    if (collection)
      for (const { document } of decoded(
        findRecords(call.engine.storage, collection, { filter, sort: [], skip: 0, limit: 0 }),
      ))
        someAtPath(document, path, (value) => {
          for (const item of Array.isArray(value) ? value : [value])
            if (item !== undefined) values.set(keyText(item), item);
          return false;
        });
    return { values: [...values.values()], ok: 1 };
  },
};

const aggregate: Command = {
  fields: ['pipeline', 'cursor'],
  run(call) {
    const { engine, database, command } = call;
    const pipeline = parsePipeline(command.pipeline);
    const results = runPipeline(collectionOf(call), pipeline, {
      reader: engine.storage,
      collection: (name) => engine.catalog.find(database, name),
    });
    const namespace = `${database}.${collectionName(call)}`;
    return cursorReply(call, namespace, encodeResults(results), cursorBatchSize(call));
  },
};

export const readCommands: Record<string, Command> = { find, getMore, count, distinct, aggregate };
