import { type Document, isDocument, numericValue } from './bson-types.js';
import { CommandError, notServed } from './errors.js';
import { refuseScripts, toPlain } from './expressions.js';
import { type FilterNode, parseFilter } from './filter.js';
import type { QuerySpec } from './plan-executor.js';
import { parseSort, type SortField } from './sort.js';

/** The stages handed to the aggregation library, where it agrees with MongoDB. */
const LIBRARY_STAGES = new Set([
  '$addFields',
  '$set',
  '$unset',
  '$project',
  '$group',
  '$unwind',
  '$replaceRoot',
  '$replaceWith',
  '$sortByCount',
  '$bucket',
  '$bucketAuto',
  '$sample',
  '$redact',
]);

/** The stages run here, where order, filters or other collections are involved. */
const OWN_STAGES = new Set([
  '$match',
  '$sort',
  '$skip',
  '$limit',
  '$count',
  '$lookup',
  '$facet',
  '$unionWith',
]);

const REFUSED_STAGES = new Set([
  '$out',
  '$merge',
  '$geoNear',
  '$graphLookup',
  '$setWindowFields',
  '$densify',
  '$fill',
  '$documents',
  '$search',
  '$searchMeta',
  '$vectorSearch',
  '$collStats',
  '$indexStats',
  '$planCacheStats',
  '$currentOp',
  '$listSessions',
  '$listLocalSessions',
]);

export interface Stage {
  name: string;
  spec: unknown;
}

/** Parses a pipeline. Throws 40323/40324 for malformed and unknown stages; what is not served is refused by name. */
export function parsePipeline(pipeline: unknown): Stage[] {
  if (!Array.isArray(pipeline)) throw new CommandError(14, "'pipeline' option must be specified as an array");
  refuseScripts(pipeline);
  return pipeline.map((stage) => {
    const keys = isDocument(stage) ? Object.keys(stage) : [];
    const [name] = keys;
    if (name === undefined || keys.length > 1)
      throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
    if (name === '$changeStream')
      throw new CommandError(40573, 'The $changeStream stage is only supported on replica sets');
    if (REFUSED_STAGES.has(name)) throw notServed(`the stage ${name}`);
    if (!LIBRARY_STAGES.has(name) && !OWN_STAGES.has(name))
      throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`);
    return { name, spec: stage[name] };
  });
}

/** What of a pipeline's beginning a query on the collection does: $match, then $sort, $skip and $limit. */
export function splitPipeline(
  stages: readonly Stage[],
  variables: Document = {},
): { query: QuerySpec; rest: Stage[] } {
  const filters: FilterNode[] = [];
  let at = 0;
  for (; stages[at]?.name === '$match'; at++) filters.push(parseFilter(stages[at]?.spec, variables));
  const [only] = filters;
  const filter: FilterNode = filters.length === 1 && only ? only : { kind: 'and', children: filters };
  const query: QuerySpec = { filter, sort: [], skip: 0, limit: 0 };
  if (stages[at]?.name === '$sort') query.sort = parseSortStage(stages[at++]?.spec);
  if (stages[at]?.name === '$skip') query.skip = parseCount(stages[at++] as Stage);
  if (stages[at]?.name === '$limit') query.limit = parseCount(stages[at++] as Stage);
  return { query, rest: stages.slice(at) };
}

/** `$count`, and the `$group` of countDocuments, need no documents. */
export function countsOnly(rest: readonly Stage[]): ((n: number) => Document) | undefined {
  const [stage] = rest;
  if (rest.length !== 1 || !stage) return undefined;
  if (stage.name === '$count' && typeof stage.spec === 'string')
    return (n) => ({ [stage.spec as string]: n });
  if (stage.name !== '$group' || !isDocument(stage.spec)) return undefined;
  const { _id, n, ...others } = stage.spec;
  const constant = _id === null || numericValue(_id) !== undefined;
  const sumsOne = isDocument(n) && Object.keys(n).length === 1 && Number(numericValue(n.$sum)) === 1;
  return constant && sumsOne && Object.keys(others).length === 0
    ? (count) => ({ _id: toPlain(_id), n: count })
    : undefined;
}

/** The fields of a $sort stage. Throws 15976 when there are none. */
export function parseSortStage(spec: unknown): SortField[] {
  const fields = parseSort(spec);
  if (fields.length === 0) throw new CommandError(15976, '$sort stage must have at least one sort key');
  return fields;
}

/** The number of a $skip or $limit stage. */
export function parseCount(stage: Stage): number {
  const number = Number(numericValue(stage.spec));
  const least = stage.name === '$limit' ? 1 : 0;
  if (!Number.isInteger(number) || number < least)
    throw new CommandError(
      stage.name === '$limit' ? 15958 : 5107200,
      `invalid argument to ${stage.name} stage: must be at least ${least}`,
    );
  return number;
}
