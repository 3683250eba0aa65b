import { parsePipeline } from '../aggregate/pipeline.js';
import { type IndexScan, type Plan, planQuery } from '../indexes/planner.js';
import { integerOption, parseFilter } from '../query/filter.js';
import { findRecords, type QuerySpec, type ScanStatistics } from '../query/find-records.js';
import { parseSort } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import { type Document, isDocument } from '../values/bson-types.js';
import { badValue, CommandError, failedToParse } from '../values/errors.js';
import {
  type CommandCall,
  type CommandHandler,
  collectionName,
  readerOf,
  refuseUnserved,
} from './command.js';
import { refuseUnknownFields } from './known-fields.js';
import { hintOf, parseFind } from './read-commands.js';
import { parseTimeLimit } from './time-limit.js';

/** How much explain tells; the last, which is the default, would also run rejected plans, but there are none. */
const VERBOSITIES: unknown[] = ['queryPlanner', 'executionStats', 'allPlansExecution'];

/** The query inside the command that is explained, and the stages of a pipeline that come after it. */
function explainedQuery(inner: Document): { query: QuerySpec; rest: Document[] } {
  const whole = (filter: unknown, limit = 0): QuerySpec => ({
    filter: parseFilter(filter ?? {}),
    sort: [],
    skip: 0,
    limit,
    hint: hintOf(inner),
  });
  switch (Object.keys(inner)[0]) {
    case 'find':
      return { query: parseFind(inner).query, rest: [] };
    case 'aggregate': {
      const { query, rest } = parsePipeline(inner.pipeline);
      return {
        query: { ...query, hint: hintOf(inner) },
        rest: rest.map(({ name, spec }) => ({ [name]: spec })),
      };
    }
    case 'count':
    case 'distinct':
      return { query: whole(inner.query), rest: [] };
    case 'findAndModify':
    case 'findandmodify':
      return { query: { ...whole(inner.query, 1), sort: parseSort(inner.sort) }, rest: [] };
    case 'update':
    case 'delete': {
      const [statement] = (inner.updates ?? inner.deletes ?? []) as unknown[];
      if (!isDocument(statement)) throw failedToParse('explain needs one update or delete statement');
      refuseUnknownFields(inner.updates ? 'update.updates' : 'delete.deletes', statement);
      const one = inner.updates ? statement.multi !== true : integerOption(statement.limit, 'limit', 0) === 1;
      const sort = parseSort(statement.sort);
      return { query: { ...whole(statement.q, one ? 1 : 0), sort, hint: hintOf(statement) }, rest: [] };
    }
    default:
      throw new CommandError(59, `Explain failed due to unknown command: ${Object.keys(inner)[0]}`);
  }
}

function scanStage(scan: IndexScan): Document {
  const { spec, multikey } = scan.index;
  return {
    stage: 'IXSCAN',
    keyPattern: spec.document.key,
    indexName: spec.name,
    isMultiKey: multikey,
    isUnique: spec.unique,
    isSparse: spec.sparse,
    isPartial: spec.partial !== undefined,
    direction: scan.reverse ? 'backward' : 'forward',
  };
}

/** The tree of stages of a plan, outermost first, in mongod's names. */
function stageTree(plan: Plan, query: QuerySpec): Document {
  let stage: Document;
  if (plan.kind === 'COLLSCAN')
    stage = { stage: 'COLLSCAN', direction: plan.ranges[0]?.reverse ? 'backward' : 'forward' };
  else if (plan.kind === 'IXSCAN')
    stage = {
      stage: 'FETCH',
      inputStage: plan.merge ? { stage: 'SORT_MERGE', inputStages: [scanStage(plan)] } : scanStage(plan),
    };
  else stage = { stage: 'FETCH', inputStage: { stage: 'OR', inputStages: plan.branches.map(scanStage) } };
  if (!plan.exact) stage.filter = 'the whole query';
  if (!plan.sorted)
    stage = {
      stage: 'SORT',
      sortPattern: Object.fromEntries(query.sort.map((field) => [field.name, field.descending ? -1 : 1])),
      inputStage: stage,
    };
  if (query.skip > 0) stage = { stage: 'SKIP', skipAmount: query.skip, inputStage: stage };
  if (query.limit > 0) stage = { stage: 'LIMIT', limitAmount: query.limit, inputStage: stage };
  return stage;
}

function explainQuery(
  call: CommandCall,
  collection: Collection | undefined,
  namespace: string,
  query: QuerySpec,
  verbosity: unknown,
): Document {
  const executes = verbosity !== 'queryPlanner';
  const allPlans = verbosity === 'allPlansExecution' ? { allPlansExecution: [] } : {};
  if (!collection) {
    const winningPlan = { stage: 'EOF' };
    const executionStats = {
      executionSuccess: true,
      nReturned: 0,
      executionTimeMillis: 0,
      totalKeysExamined: 0,
      totalDocsExamined: 0,
      executionStages: winningPlan,
      ...allPlans,
    };
    return {
      queryPlanner: { namespace, winningPlan, rejectedPlans: [] },
      ...(executes ? { executionStats } : {}),
    };
  }
  const plan = planQuery(collection, query.filter, query.sort, query.hint);
  const winningPlan = stageTree(plan, query);
  const explained: Document = {
    queryPlanner: { namespace, indexFilterSet: false, winningPlan, rejectedPlans: [] },
  };
  if (executes) {
    const statistics: ScanStatistics = { keysExamined: 0, docsExamined: 0 };
    const started = performance.now();
    let nReturned = 0;
    for (const _ of findRecords(readerOf(call), collection, query, statistics, plan)) nReturned++;
    explained.executionStats = {
      executionSuccess: true,
      nReturned,
      executionTimeMillis: Math.round(performance.now() - started),
      totalKeysExamined: statistics.keysExamined,
      totalDocsExamined: statistics.docsExamined,
      executionStages: { ...winningPlan, nReturned },
      ...allPlans,
    };
  }
  return explained;
}

const explain: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const inner = command.explain;
  if (!isDocument(inner)) throw failedToParse('explain command requires a nested object');
  const verbosity = command.verbosity ?? 'allPlansExecution';
  if (!VERBOSITIES.includes(verbosity))
    throw badValue(`Enumeration value '${verbosity}' for field 'explain.verbosity' is not a valid value.`);
  refuseUnserved(inner);
  refuseUnknownFields(Object.keys(inner)[0] ?? '', inner);
  const { query, rest } = explainedQuery(inner);
  const name = collectionName({ ...call, command: inner });
  const explained = explainQuery(
    { ...call, limit: call.limit ?? parseTimeLimit(inner.maxTimeMS) },
    engine.catalog.find(database, name),
    `${database}.${name}`,
    query,
    verbosity,
  );
  const body = rest.length > 0 ? { stages: [{ $cursor: explained }, ...rest] } : explained;
  return {
    explainVersion: '1',
    ...body,
    command: inner,
    serverInfo: { host: 'embedded', version: '7.0.0' },
    ok: 1,
  };
};

export const explainCommands: Record<string, CommandHandler> = { explain };
