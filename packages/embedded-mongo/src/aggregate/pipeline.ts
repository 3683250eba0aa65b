import { countRecords, findDocuments, type QuerySpec } from '../indexes/find-records.js';
import { conjunction, type FilterNode, parseFilter } from '../query/filter.js';
import { compileMatcher } from '../query/matcher.js';
import { compileProjection } from '../query/projection.js';
import { parseSort } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import type { Reader } from '../storage/storage.js';
import { type Document, isDocument, numericValue, setOwn } from '../values/bson-types.js';
import { CommandError, failedToParse, notServed, typeMismatch } from '../values/errors.js';
import { type FieldOrder, parsePath, someAtPath } from '../values/field-path.js';
import { parseGroup } from './group.js';

/** What a pipeline reads from. */
export interface PipelineContext {
  reader: Reader;
  /** A collection of the same database. */
  collection(name: string): Collection | undefined;
}

/** Transforms the documents of the previous stage. */
type Stage = (input: Iterable<Document>, context: PipelineContext) => Iterable<Document>;

/** A compiled pipeline: the planned query of its leading $match, $sort, $skip and $limit, then the other stages. */
export interface Pipeline {
  query: QuerySpec;
  rest: Stage[];
  /** The only result, if it depends on the number of documents alone: the $group of countDocuments. */
  ofCount?: (n: number) => Document;
}

/** The stages that become the planned query, in this order; only $match is supported elsewhere, too. */
const QUERY_STAGES = ['$match', '$sort', '$skip', '$limit'];

/** The stages supported after them; each has its probes in semantics-aggregation.test.ts. */
const STAGES: ReadonlyMap<string, (spec: unknown) => Stage> = new Map([
  ['$match', parseMatch],
  ['$group', parseGroup],
  ['$project', parseProject],
  ['$lookup', parseLookup],
]);

/** Compiles a pipeline. Throws 40323 for malformed stages, NotImplemented naming what is not supported. */
export function parsePipeline(pipeline: unknown): Pipeline {
  if (!Array.isArray(pipeline)) throw typeMismatch("'pipeline' option must be specified as an array");
  const stages = pipeline.map((stage) => {
    const [name, ...others] = isDocument(stage) ? Object.keys(stage) : [];
    if (name === undefined || others.length > 0)
      throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
    return { name, spec: stage[name] as unknown };
  });
  const filters: FilterNode[] = [];
  while (stages[0]?.name === '$match') filters.push(parseFilter(stages.shift()?.spec));
  const query: QuerySpec = { filter: conjunction(filters) };
  if (stages[0]?.name === '$sort') query.sort = parseSortStage(stages.shift()?.spec);
  if (stages[0]?.name === '$skip')
    query.skip = wholeNumber(
      stages.shift()?.spec,
      0,
      new CommandError(5107200, 'invalid argument to $skip stage'),
    );
  if (stages[0]?.name === '$limit')
    query.limit = wholeNumber(stages.shift()?.spec, 1, new CommandError(15958, 'the limit must be positive'));
  const rest = stages.map(({ name, spec }) => {
    const parse = STAGES.get(name);
    if (parse) return parse(spec);
    const isLate = QUERY_STAGES.includes(name);
    throw notServed(
      isLate ? `${name} anywhere but in a leading ${QUERY_STAGES.join(', ')}` : `the stage ${name}`,
    );
  });
  const [only, ...others] = stages;
  const ofCount = only?.name === '$group' && others.length === 0 ? parseCount(only.spec) : undefined;
  return { query, rest, ...(ofCount ? { ofCount } : {}) };
}

function parseSortStage(spec: unknown): FieldOrder[] {
  const sort = parseSort(spec);
  if (sort.length === 0) throw new CommandError(15976, '$sort stage must have at least one sort key');
  return sort;
}

function wholeNumber(spec: unknown, least: number, error: CommandError): number {
  const number = numericValue(spec);
  if (number === undefined || !Number.isInteger(number) || number < least) throw error;
  return number;
}

/** The $group of countDocuments: their number, under a constant key. */
function parseCount(spec: unknown): Pipeline['ofCount'] {
  const { _id, n, ...others } = spec as Document;
  const isConstant = _id === null || numericValue(_id) !== undefined;
  const counts = isDocument(n) && numericValue(n.$sum) === 1 && Object.keys(others).length === 0;
  return isConstant && counts ? (count) => ({ _id, n: count }) : undefined;
}

/** Runs a pipeline on a collection and yields its results. */
export function* runPipeline(
  collection: Collection | undefined,
  { query, rest, ofCount }: Pipeline,
  context: PipelineContext,
): Generator<Document> {
  if (!collection) return;
  if (ofCount) {
    const n = countRecords(context.reader, collection, query);
    if (n > 0) yield ofCount(n);
    return;
  }
  let documents: Iterable<Document> = findDocuments(context.reader, collection, query);
  for (const stage of rest) documents = stage(documents, context);
  yield* documents;
}

function parseMatch(spec: unknown): Stage {
  const matches = compileMatcher(parseFilter(spec));
  return function* run(input) {
    for (const document of input) if (matches(document)) yield document;
  };
}

function parseProject(spec: unknown): Stage {
  const project = compileProjection(spec);
  if (!project) throw new CommandError(51272, '$project specification must have at least one field');
  return function* run(input) {
    for (const document of input) yield project(document);
  };
}

/** $lookup by equal fields, with or without a pipeline; the inner query is planned and so uses an index. */
function parseLookup(spec: unknown): Stage {
  if (!isDocument(spec)) throw failedToParse('the $lookup specification must be an object');
  const { from, as, localField, foreignField, pipeline, ...others } = spec;
  const [other] = Object.keys(others);
  if (other !== undefined) throw notServed(`the $lookup option '${other}'`);
  if (![from, as, localField, foreignField].every((field) => typeof field === 'string'))
    throw failedToParse("$lookup needs the strings 'from', 'as', 'localField' and 'foreignField'");
  const [local, foreign] = [parsePath(localField as string), parsePath(foreignField as string)];
  if (parsePath(as as string).length > 1) throw notServed("a path in 'as' of $lookup");
  const inner = parsePipeline(pipeline ?? []);
  return function* run(input, context) {
    const collection = context.collection(from as string);
    for (const document of input) {
      const joined: FilterNode = { kind: 'in', path: foreign, values: localValues(document, local) };
      const filter = conjunction([joined, inner.query.filter]);
      const result = { ...document };
      setOwn(result, as as string, [
        ...runPipeline(collection, { ...inner, query: { ...inner.query, filter } }, context),
      ]);
      yield result;
    }
  };
}

/** The local values of a $lookup: each element of an array separately; null if there is none. */
function localValues(document: Document, path: readonly string[]): unknown[] {
  const values: unknown[] = [];
  someAtPath(document, path, (value) => {
    if (Array.isArray(value)) values.push(...value);
    else if (value !== undefined) values.push(value);
    return false;
  });
  return values.length > 0 ? values : [null];
}
