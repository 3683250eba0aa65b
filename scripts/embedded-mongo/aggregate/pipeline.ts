import { type FilterNode, parseFilter } from '../query/filter.js';
import { countRecords, type Found, findRecords, type QuerySpec } from '../query/find-records.js';
import { compileMatcher } from '../query/matcher.js';
import { compileProjection } from '../query/projection.js';
import { parseSort, type SortField, sortKey, TopSorter } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import type { Reader } from '../storage/storage.js';
import {
  type Document,
  decode,
  encode,
  isDocument,
  MAX_DOCUMENT_BYTES,
  numericValue,
  setOwn,
} from '../values/bson-types.js';
import { CommandError, failedToParse, notServed } from '../values/errors.js';
import { type FieldPath, parsePath, someAtPath } from '../values/field-path.js';
import { parseGroup } from './group.js';

/** Where a pipeline reads. */
export interface PipelineContext {
  reader: Reader;
  /** A collection of the same database, for $lookup. */
  collection(name: string): Collection | undefined;
}

/** A compiled stage. `filter`, `sort` and `count` are what a planned query needs to do its work instead. */
interface Stage {
  name: string;
  spec: unknown;
  run(input: Iterable<Document>, context: PipelineContext): Iterable<Document>;
  filter?: FilterNode;
  sort?: SortField[];
  /** The number of a $skip or $limit. */
  count?: number;
  /** The result where it depends on the number of documents alone. */
  ofCount?: (n: number) => Document;
}

/** A compiled pipeline: the planned query of its leading $match, $sort, $skip and $limit, then the other stages. */
export interface Pipeline {
  query: QuerySpec;
  rest: Stage[];
}

type ParseStage = (spec: unknown) => Omit<Stage, 'name' | 'spec'>;

/** What is served; the semantics of each stage have their probes in semantics-aggregation.test.ts. */
const STAGES: ReadonlyMap<string, ParseStage> = new Map<string, ParseStage>([
  ['$match', parseMatch],
  ['$sort', parseSortStage],
  ['$skip', parseSkip],
  ['$limit', parseLimit],
  ['$count', parseCount],
  ['$group', parseGroupStage],
  ['$project', parseProject],
  ['$lookup', parseLookup],
]);

const NOT_SERVED = new Set([
  ...['$addFields', '$set', '$unset', '$unwind', '$replaceRoot', '$replaceWith', '$sortByCount', '$bucket'],
  ...[
    '$bucketAuto',
    '$sample',
    '$redact',
    '$facet',
    '$unionWith',
    '$out',
    '$merge',
    '$geoNear',
    '$graphLookup',
  ],
  ...['$setWindowFields', '$densify', '$fill', '$documents', '$search', '$searchMeta', '$vectorSearch'],
  ...['$collStats', '$indexStats', '$planCacheStats', '$currentOp', '$listSessions', '$listLocalSessions'],
]);

/** Compiles a pipeline. Throws 40323/40324 for malformed and unknown stages; what is not served is refused by name. */
export function parsePipeline(pipeline: unknown): Pipeline {
  if (!Array.isArray(pipeline)) throw new CommandError(14, "'pipeline' option must be specified as an array");
  const stages = pipeline.map(parseStage);
  const filters: FilterNode[] = [];
  while (stages[0]?.filter) filters.push((stages.shift() as Stage).filter as FilterNode);
  const query: QuerySpec = { filter: { kind: 'and', children: filters }, sort: [], skip: 0, limit: 0 };
  if (filters.length === 1) query.filter = filters[0] as FilterNode;
  if (stages[0]?.sort) query.sort = stages.shift()?.sort ?? [];
  if (stages[0]?.name === '$skip') query.skip = stages.shift()?.count ?? 0;
  if (stages[0]?.name === '$limit') query.limit = stages.shift()?.count ?? 0;
  return { query, rest: stages };
}

function parseStage(stage: unknown): Stage {
  const keys = isDocument(stage) ? Object.keys(stage) : [];
  const [name] = keys;
  if (!isDocument(stage) || name === undefined || keys.length > 1)
    throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
  const parse = STAGES.get(name);
  if (parse) return { name, spec: stage[name], ...parse(stage[name]) };
  if (name === '$changeStream')
    throw new CommandError(40573, 'The $changeStream stage is only supported on replica sets');
  if (NOT_SERVED.has(name)) throw notServed(`the stage ${name}`);
  throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`);
}

/** Runs a pipeline on a collection and yields its results. */
export function* runPipeline(
  collection: Collection | undefined,
  { query, rest }: Pipeline,
  context: PipelineContext,
): Generator<Document> {
  const ofCount = rest.length === 1 ? rest[0]?.ofCount : undefined;
  if (ofCount) {
    const n = collection ? countRecords(context.reader, collection, query) : 0;
    if (n > 0) yield ofCount(n);
    return;
  }
  let documents: Iterable<Document> = collection
    ? decoded(findRecords(context.reader, collection, query))
    : [];
  for (const stage of rest) documents = stage.run(documents, context);
  yield* documents;
}

function* decoded(found: Iterable<Found>): Generator<Document> {
  for (const { bytes, document } of found) yield document ?? decode(bytes);
}

/** Encodes pipeline results for a cursor. Throws BSONObjectTooLarge (10334). */
export function* encodeResults(documents: Iterable<Document>): Generator<Uint8Array> {
  for (const document of documents) {
    const bytes = encode(document);
    if (bytes.length > MAX_DOCUMENT_BYTES)
      throw new CommandError(10334, 'a result of the pipeline is larger than 16 MiB');
    yield bytes;
  }
}

function parseMatch(spec: unknown) {
  const filter = parseFilter(spec);
  return {
    filter,
    *run(input: Iterable<Document>) {
      const matches = compileMatcher(filter);
      for (const document of input) if (matches(document)) yield document;
    },
  };
}

function parseSortStage(spec: unknown) {
  const sort = parseSort(spec);
  if (sort.length === 0) throw new CommandError(15976, '$sort stage must have at least one sort key');
  if (sort.some((field) => field.name === '$natural'))
    throw new CommandError(16410, "FieldPath field names may not start with '$': '$natural'");
  return {
    sort,
    *run(input: Iterable<Document>) {
      const sorter = new TopSorter<Document>(0);
      for (const document of input) sorter.add(sortKey(sort, document), document, 0);
      yield* sorter.finish();
    },
  };
}

function parseSkip(spec: unknown) {
  const count = wholeNumber(spec, 0, new CommandError(5107200, 'invalid argument to $skip stage: below 0'));
  return { count, run: (input: Iterable<Document>) => slice(input, count, Number.POSITIVE_INFINITY) };
}

function parseLimit(spec: unknown) {
  const count = wholeNumber(spec, 1, new CommandError(15958, 'the limit must be positive'));
  return { count, run: (input: Iterable<Document>) => slice(input, 0, count) };
}

function wholeNumber(spec: unknown, least: number, error: CommandError): number {
  const number = Number(numericValue(spec));
  if (!Number.isInteger(number) || number < least) throw error;
  return number;
}

function* slice(input: Iterable<Document>, skip: number, limit: number): Generator<Document> {
  let seen = 0;
  for (const document of input) {
    if (seen++ < skip) continue;
    yield document;
    if (seen - skip >= limit) return;
  }
}

function parseCount(field: unknown) {
  if (typeof field !== 'string') throw new CommandError(40156, 'the count field must be a non-empty string');
  if (field === '') throw new CommandError(40157, 'the count field must be a non-empty string');
  if (field.startsWith('$')) throw new CommandError(40158, 'the count field cannot be a $-prefixed path');
  if (field.includes('.')) throw new CommandError(40160, "the count field cannot contain '.'");
  const ofCount = (n: number): Document => ({ [field]: n });
  return {
    ofCount,
    *run(input: Iterable<Document>) {
      let n = 0;
      for (const _ of input) n++;
      if (n > 0) yield ofCount(n);
    },
  };
}

function parseGroupStage(spec: unknown) {
  const run = parseGroup(spec);
  const { _id, n, ...others } = spec as Document;
  // The $group of countDocuments: how many there are, under a constant key.
  const counts =
    (_id === null || numericValue(_id) !== undefined) &&
    isDocument(n) &&
    Number(numericValue(n.$sum)) === 1 &&
    Object.keys(others).length === 0;
  return counts ? { run, ofCount: (count: number): Document => ({ _id, n: count }) } : { run };
}

function parseProject(spec: unknown) {
  const project = compileProjection(spec);
  if (!project) throw new CommandError(51272, '$project specification must have at least one field');
  return {
    *run(input: Iterable<Document>) {
      for (const document of input) yield project(document);
    },
  };
}

/** $lookup by equal fields, with or without a pipeline; the inner query is planned and so uses an index. */
function parseLookup(spec: unknown) {
  if (!isDocument(spec)) throw failedToParse('the $lookup specification must be an object');
  const { from, as, localField, foreignField, pipeline, let: variables, ...others } = spec;
  if (Object.keys(others).length > 0)
    throw failedToParse(`unknown argument to $lookup: ${Object.keys(others)[0]}`);
  if (typeof from !== 'string' || typeof as !== 'string')
    throw failedToParse("$lookup needs the strings 'from' and 'as'");
  if (typeof localField !== typeof foreignField)
    throw failedToParse(
      "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
    );
  if (variables !== undefined) throw notServed("the $lookup option 'let'");
  if (typeof localField !== 'string' || typeof foreignField !== 'string')
    throw notServed("a $lookup without 'localField' and 'foreignField'");
  const [local, foreign, target] = [parsePath(localField), parsePath(foreignField), parsePath(as)];
  const { query, rest } = parsePipeline(pipeline ?? []);
  return {
    *run(input: Iterable<Document>, context: PipelineContext) {
      const collection = context.collection(from);
      for (const document of input) {
        const values = localValues(document, local);
        const joined: FilterNode = { kind: 'in', path: foreign, values, patterns: [] };
        const filter: FilterNode = isEmpty(query.filter)
          ? joined
          : { kind: 'and', children: [joined, query.filter] };
        const inner = { query: { ...query, filter }, rest };
        yield withField(document, target, [...runPipeline(collection, inner, context)]);
      }
    },
  };
}

function isEmpty(filter: FilterNode): boolean {
  return filter.kind === 'and' && filter.children.length === 0;
}

/** The local side of a $lookup: each element of an array by itself, null where there is no value at all. */
function localValues(document: Document, path: FieldPath): unknown[] {
  const values: unknown[] = [];
  someAtPath(document, path, (value) => {
    if (Array.isArray(value)) values.push(...value);
    else if (value !== undefined) values.push(value);
    return false;
  });
  return values.length > 0 ? values : [null];
}

function withField(document: Document, path: FieldPath, value: unknown): Document {
  const [part, ...rest] = path as [string, ...string[]];
  const copy = { ...document };
  const inner = isDocument(copy[part]) ? copy[part] : {};
  setOwn(copy, part, rest.length === 0 ? value : withField(inner, rest, value));
  return copy;
}
