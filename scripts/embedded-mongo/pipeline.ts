import { Aggregator } from 'mingo';
import { type Document, decodePlain, encode, isDocument, MAX_DOCUMENT_BYTES, setOwn } from './bson-types.js';
import type { Collection } from './collection.js';
import { badValue, CommandError, failedToParse } from './errors.js';
import { expressionError, toPlain } from './expressions.js';
import { type FieldPath, parsePath, someAtPath } from './field-path.js';
import { parseFilter } from './filter.js';
import { compileMatcher } from './matcher.js';
import {
  countsOnly,
  parseCount,
  parsePipeline,
  parseSortStage,
  type Stage,
  splitPipeline,
} from './pipeline-stages.js';
import { countRecords, findRecords, type QuerySpec } from './plan-executor.js';
import { sortKey, TopSorter } from './sort.js';
import type { Reader } from './storage.js';

/** Where a pipeline reads. */
export interface PipelineContext {
  reader: Reader;
  /** A collection of the same database, for $lookup and $unionWith. */
  collection(name: string): Collection | undefined;
  /** Variables of an enclosing $lookup. */
  variables: Document;
}

/** Runs a pipeline on a collection and yields its results, decoded to plain values. */
export function* runPipeline(
  collection: Collection | undefined,
  stages: readonly Stage[],
  context: PipelineContext,
  hint?: unknown,
): Generator<Document> {
  const { query, rest } = splitPipeline(stages, context.variables);
  query.hint = hint;
  const counted = countsOnly(rest);
  if (counted) {
    const n = collection ? countRecords(context.reader, collection, query) : 0;
    if (n > 0) yield counted(n);
    return;
  }
  yield* runStages(plainRecords(collection, query, context), rest, context);
}

function* plainRecords(
  collection: Collection | undefined,
  query: QuerySpec,
  context: PipelineContext,
): Generator<Document> {
  if (!collection) return;
  for (const { bytes } of findRecords(context.reader, collection, query)) yield decodePlain(bytes);
}

function* runStages(
  input: Iterable<Document>,
  stages: readonly Stage[],
  context: PipelineContext,
): Generator<Document> {
  let documents: Iterable<Document> = input;
  for (const stage of stages) {
    const own = STAGE_RUNNERS.get(stage.name);
    documents = own ? own(documents, stage, context) : runLibraryStage(documents, stage, context);
  }
  yield* documents;
}

function* runLibraryStage(
  input: Iterable<Document>,
  stage: Stage,
  context: PipelineContext,
): Generator<Document> {
  try {
    const aggregator = new Aggregator([{ [stage.name]: toPlain(stage.spec) }], {
      scriptEnabled: false,
      variables: context.variables,
    });
    yield* aggregator.run([...input]) as Document[];
  } catch (error) {
    throw expressionError(error);
  }
}

type StageRunner = (input: Iterable<Document>, stage: Stage, context: PipelineContext) => Iterable<Document>;

const STAGE_RUNNERS = new Map<string, StageRunner>([
  ['$match', match],
  ['$sort', sort],
  ['$skip', (input, stage) => slice(input, parseCount(stage), Number.POSITIVE_INFINITY)],
  ['$limit', (input, stage) => slice(input, 0, parseCount(stage))],
  ['$count', count],
  ['$lookup', lookup],
  ['$facet', facet],
  ['$unionWith', unionWith],
]);

function* match(input: Iterable<Document>, stage: Stage, context: PipelineContext): Generator<Document> {
  const matches = compileMatcher(parseFilter(stage.spec, context.variables));
  for (const document of input) if (matches(document)) yield document;
}

function* sort(input: Iterable<Document>, stage: Stage): Generator<Document> {
  const fields = parseSortStage(stage.spec);
  const sorter = new TopSorter<Document>(0);
  for (const document of input) sorter.add(sortKey(fields, document), document, 0);
  yield* sorter.finish();
}

function* slice(input: Iterable<Document>, skip: number, limit: number): Generator<Document> {
  let seen = 0;
  for (const document of input) {
    if (seen++ < skip) continue;
    yield document;
    if (seen - skip >= limit) return;
  }
}

function* count(input: Iterable<Document>, stage: Stage): Generator<Document> {
  if (typeof stage.spec !== 'string' || stage.spec === '' || /^\$|\.|\0/.test(stage.spec))
    throw new CommandError(40156, 'the count field must be a non-empty string');
  let n = 0;
  for (const _ of input) n++;
  if (n > 0) yield { [stage.spec]: n };
}

function* facet(input: Iterable<Document>, stage: Stage, context: PipelineContext): Generator<Document> {
  if (!isDocument(stage.spec))
    throw new CommandError(40169, 'the $facet specification must be a non-empty object');
  const documents = [...input];
  const result: Document = {};
  for (const name of Object.keys(stage.spec))
    setOwn(result, name, [...runStages(documents, parsePipeline(stage.spec[name]), context)]);
  yield result;
}

function* unionWith(input: Iterable<Document>, stage: Stage, context: PipelineContext): Generator<Document> {
  yield* input;
  const spec = isDocument(stage.spec) ? stage.spec : { coll: stage.spec };
  if (typeof spec.coll !== 'string') throw failedToParse('$unionWith needs a collection name');
  yield* runPipeline(context.collection(spec.coll), parsePipeline(spec.pipeline ?? []), context);
}

/** $lookup by equal fields, by a pipeline with `let`, or both; the inner query is planned and so uses an index. */
function* lookup(input: Iterable<Document>, stage: Stage, context: PipelineContext): Generator<Document> {
  const { spec } = stage;
  if (!isDocument(spec)) throw failedToParse('the $lookup specification must be an object');
  const { from, as, localField, foreignField, pipeline, let: variables = {}, ...others } = spec;
  if (Object.keys(others).length > 0)
    throw failedToParse(`unknown argument to $lookup: ${Object.keys(others)[0]}`);
  if (typeof from !== 'string' || typeof as !== 'string')
    throw failedToParse("$lookup needs the strings 'from' and 'as'");
  if (typeof localField !== typeof foreignField)
    throw failedToParse(
      "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
    );
  if (!isDocument(variables)) throw failedToParse("$lookup argument 'let' must be an object");
  const local = typeof localField === 'string' ? parsePath(localField) : undefined;
  const inner = parsePipeline(pipeline ?? []);
  if (!local && pipeline === undefined)
    throw failedToParse('$lookup requires a pipeline or localField and foreignField');
  const foreign = context.collection(from);
  const target = parsePath(as);
  for (const document of input) {
    const stages = [...inner];
    if (local)
      stages.unshift({
        name: '$match',
        spec: { [foreignField as string]: { $in: valuesOf(document, local) } },
      });
    const own = {
      ...context,
      variables: { ...context.variables, ...evaluateLet(document, variables, context) },
    };
    yield withField(document, target, [...runPipeline(foreign, stages, own)]);
  }
}

/** The local side of a $lookup: elements of an array each count, a missing field is null. */
function valuesOf(document: Document, path: FieldPath): unknown[] {
  const values: unknown[] = [];
  someAtPath(document, path, (value) => {
    if (Array.isArray(value)) values.push(...value);
    else values.push(value ?? null);
    return false;
  });
  return values.length > 0 ? values : [null];
}

function evaluateLet(document: Document, variables: Document, context: PipelineContext): Document {
  if (Object.keys(variables).length === 0) return {};
  const stage = { name: '$project', spec: { _id: 0, ...variables } };
  return [...runLibraryStage([document], stage, context)][0] ?? {};
}

function withField(document: Document, path: FieldPath, value: unknown): Document {
  const [part, ...rest] = path as [string, ...string[]];
  const copy = { ...document };
  const inner = isDocument(copy[part]) ? copy[part] : {};
  setOwn(copy, part, rest.length === 0 ? value : withField(inner, rest, value));
  return copy;
}

/** Encodes pipeline results for a cursor. Throws BadValue for values that have no BSON form. */
export function* encodeResults(documents: Generator<Document>): Generator<Uint8Array> {
  for (const document of documents) {
    if (!isDocument(document)) throw badValue('a pipeline must yield documents');
    const bytes = encode(document);
    if (bytes.length > MAX_DOCUMENT_BYTES)
      throw new CommandError(10334, 'a result of the pipeline is larger than 16 MiB');
    yield bytes;
  }
}
