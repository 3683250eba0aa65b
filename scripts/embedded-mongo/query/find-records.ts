import { type Plan, planQuery, type ScanRange } from '../indexes/planner.js';
import { type Collection, RECORD_ID_BYTES, trailingRecordId } from '../storage/collection.js';
import type { Entry, Reader } from '../storage/storage.js';
import { type Document, decode } from '../values/bson-types.js';
import type { FilterNode } from './filter.js';
import { compileMatcher } from './matcher.js';
import { type SortField, sortKey, TopSorter } from './sort.js';

/** What a query wants from a collection. `limit` 0 means all. */
export interface QuerySpec {
  filter: FilterNode;
  sort: SortField[];
  skip: number;
  limit: number;
  hint?: unknown;
}

/** A record that was found; `document` is there when it had to be decoded anyway. */
export interface Found {
  recordId: number;
  bytes: Buffer;
  document?: Document;
}

/** What explain reports. */
export interface ScanStatistics {
  keysExamined: number;
  docsExamined: number;
}

/** Keys are read in steps, so that a cursor holds nothing open between two getMore; steps grow up to this. */
const MAX_STEP = 512;

/** The record ids of a plan in its order, each once. */
function* scan(
  reader: Reader,
  plan: Plan,
  first: number,
  statistics: ScanStatistics,
): Generator<Entry & { id: number }> {
  if (plan.kind === 'OR') {
    const seen = new Set<number>();
    for (const branch of plan.branches)
      for (const entry of scan(reader, branch, first, statistics))
        if (!seen.has(entry.id) && seen.add(entry.id)) yield entry;
    return;
  }
  const unique = plan.kind === 'IXSCAN' && plan.index.spec.unique;
  const seen = plan.kind === 'IXSCAN' && plan.index.multikey ? new Set<number>() : undefined;
  const walks = plan.ranges.map((range) => walkRange(reader, range, first));
  const entries =
    plan.kind === 'IXSCAN' && plan.merge ? mergeWalks(walks, plan.ranges, plan.reverse) : concat(walks);
  for (const entry of entries) {
    if (plan.kind === 'IXSCAN') statistics.keysExamined++;
    const id = unique ? entry.value.readUIntBE(0, RECORD_ID_BYTES) : trailingRecordId(entry.key);
    if (seen) {
      if (seen.has(id)) continue;
      seen.add(id);
    }
    yield { ...entry, id };
  }
}

function* concat(walks: Generator<Entry>[]): Generator<Entry> {
  for (const walk of walks) yield* walk;
}

function* walkRange(reader: Reader, range: ScanRange, first: number): Generator<Entry> {
  let { start, end } = range;
  for (let step = first; ; step = Math.min(step * 4, MAX_STEP)) {
    const entries = reader.entries({ start, end, reverse: range.reverse }, step);
    yield* entries;
    const last = entries.at(-1);
    if (!last || entries.length < step) return;
    if (range.reverse) end = last.key;
    else start = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

/** Merges ranges that are each in order by what follows their prefixes. */
function* mergeWalks(walks: Generator<Entry>[], ranges: ScanRange[], reverse: boolean): Generator<Entry> {
  const heads = walks.map((walk, i) => ({
    walk,
    prefix: ranges[i]?.prefix ?? 0,
    entry: walk.next().value as Entry | undefined,
  }));
  for (;;) {
    let best: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (!head.entry) continue;
      if (!best?.entry) {
        best = head;
        continue;
      }
      const order = Buffer.compare(
        head.entry.key.subarray(head.prefix),
        best.entry.key.subarray(best.prefix),
      );
      if (reverse ? order > 0 : order < 0) best = head;
    }
    if (!best?.entry) return;
    yield best.entry;
    best.entry = best.walk.next().value as Entry | undefined;
  }
}

/** Finds the records of a query, in order, skipped and limited. Decodes only what it must look at. */
export function* findRecords(
  reader: Reader,
  collection: Collection,
  query: QuerySpec,
  statistics: ScanStatistics = { keysExamined: 0, docsExamined: 0 },
  plan: Plan = planQuery(collection, query.filter, query.sort, query.hint),
): Generator<Found> {
  noteScan(collection, query, plan);
  const wanted = query.limit > 0 ? query.skip + query.limit : 0;
  const matched = matchRecords(reader, collection, query, statistics, plan, plan.sorted ? wanted : 0);
  let skipped = 0;
  let given = 0;
  for (const found of plan.sorted ? matched : sortRecords(matched, query.sort, wanted)) {
    if (skipped < query.skip) {
      skipped++;
      continue;
    }
    yield found;
    if (++given === query.limit) return;
  }
}

/** Counts a collection scan under the fields it was asked for, so that a missing index can be found. */
function noteScan(collection: Collection, query: QuerySpec, plan: Plan): void {
  if (plan.kind !== 'COLLSCAN') return;
  const asked = [...new Set(pathsOf(query.filter))].sort().join(', ') || 'all documents';
  const shape =
    query.sort.length > 0 ? `${asked} by ${query.sort.map((field) => field.name).join(', ')}` : asked;
  collection.collectionScans.set(shape, (collection.collectionScans.get(shape) ?? 0) + 1);
}

function pathsOf(node: FilterNode): string[] {
  if ('children' in node) return node.children.flatMap(pathsOf);
  if (node.kind === 'not') return pathsOf(node.child);
  return node.kind === 'expr' ? ['$expr'] : [node.path.join('.')];
}

function* matchRecords(
  reader: Reader,
  collection: Collection,
  query: QuerySpec,
  statistics: ScanStatistics,
  plan: Plan,
  wanted: number,
): Generator<Found> {
  const began = reader.generation;
  const matches = compileMatcher(query.filter);
  const first = plan.exact && wanted > 0 ? Math.min(wanted, MAX_STEP) : 128;
  for (const entry of scan(reader, plan, first, statistics)) {
    // Between two batches of a cursor others may have written: what was read ahead is then looked at again.
    const fresh = reader.generation === began;
    const bytes = plan.kind === 'COLLSCAN' && fresh ? entry.value : collection.read(reader, entry.id);
    if (!bytes) continue;
    statistics.docsExamined++;
    if (plan.exact && fresh) {
      yield { recordId: entry.id, bytes };
      continue;
    }
    const document = decode(bytes);
    if (matches(document)) yield { recordId: entry.id, bytes, document };
  }
}

function* sortRecords(matched: Generator<Found>, sort: SortField[], wanted: number): Generator<Found> {
  const sorter = new TopSorter<Found>(wanted);
  for (const { recordId, bytes, document } of matched)
    sorter.add(sortKey(sort, document ?? decode(bytes)), { recordId, bytes }, bytes.length);
  yield* sorter.finish();
}

/** Counts matching documents; an exact plan counts keys without reading a document. */
export function countRecords(reader: Reader, collection: Collection, query: QuerySpec): number {
  const plan = planQuery(collection, query.filter, [], query.hint);
  let total = 0;
  if (!plan.exact) noteScan(collection, query, plan);
  if (plan.kind === 'COLLSCAN' && plan.exact) {
    total = collection.count(reader);
  } else if (plan.kind === 'IXSCAN' && plan.exact) {
    for (const { start, end } of plan.ranges) total += reader.count(start, end);
  } else {
    for (const _ of matchRecords(reader, collection, query, { keysExamined: 0, docsExamined: 0 }, plan, 0))
      total++;
  }
  total = Math.max(0, total - query.skip);
  return query.limit > 0 ? Math.min(total, query.limit) : total;
}
