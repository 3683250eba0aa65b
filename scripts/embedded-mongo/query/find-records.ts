import { type OrScan, type Plan, planQuery, type RangeScan } from '../indexes/planner.js';
import { type Collection, RECORD_ID_BYTES, trailingRecordId } from '../storage/collection.js';
import type { Entry, KeyRange, Reader } from '../storage/storage.js';
import { type Document, decode } from '../values/bson-types.js';
import type { FieldOrder } from '../values/field-path.js';
import type { FilterNode } from './filter.js';
import { compileMatcher } from './matcher.js';
import { sortBy } from './sort.js';

/** A query of a collection. `limit` 0 means all. */
export interface QuerySpec {
  filter: FilterNode;
  sort: FieldOrder[];
  skip: number;
  limit: number;
}

/** A record found; `document` is set if it had to be decoded anyway. */
export interface Found {
  recordId: number;
  bytes: Buffer;
  document?: Document;
}

/** An entry of an index or of the records, and the record it belongs to. */
interface Scanned {
  recordId: number;
  entry: Entry;
}

/** Keys in the first and in the largest step of a scan: between steps, a cursor keeps nothing open. */
const FIRST_STEP = 128;
const LAST_STEP = 512;

/** Finds the records of a query, in order, skipped and limited. Decodes only what must be matched or sorted. */
export function* findRecords(reader: Reader, collection: Collection, query: QuerySpec): Generator<Found> {
  const { filter, sort, skip, limit } = query;
  const plan = planQuery(collection, filter, sort);
  if (plan.kind === 'COLLSCAN') noteScan(collection, query);
  const wanted = plan.sorted && limit > 0 ? skip + limit : 0;
  const matched = matchRecords(reader, collection, query, plan, wanted);
  let seen = 0;
  for (const found of plan.sorted ? matched : sortBy(decoded(matched), sort)) {
    if (seen++ < skip) continue;
    yield found;
    if (seen - skip === limit) return;
  }
}

/** The record with its document. */
export function* decoded(records: Iterable<Found>): Generator<Found & { document: Document }> {
  for (const found of records) yield { ...found, document: found.document ?? decode(found.bytes) };
}

/** Counts matching documents; a plan that is exact counts keys without reading a document. */
export function countRecords(reader: Reader, collection: Collection, query: QuerySpec): number {
  const plan = planQuery(collection, query.filter, []);
  let total = 0;
  if (plan.exact && plan.kind !== 'OR') {
    for (const { start, end } of plan.ranges) total += reader.count(start, end);
  } else {
    if (plan.kind === 'COLLSCAN') noteScan(collection, query);
    for (const _ of matchRecords(reader, collection, query, plan, 0)) total++;
  }
  total = Math.max(0, total - query.skip);
  return query.limit > 0 ? Math.min(total, query.limit) : total;
}

/** Counts a collection scan by the fields of its query, so that a missing index can be found. */
function noteScan({ collectionScans }: Collection, { filter, sort }: QuerySpec): void {
  const fields = [...new Set(pathsOf(filter))].sort().join(', ') || 'all documents';
  const order = sort.map((field) => field.name).join(', ');
  const shape = order ? `${fields} by ${order}` : fields;
  collectionScans.set(shape, (collectionScans.get(shape) ?? 0) + 1);
}

function pathsOf(node: FilterNode): string[] {
  if ('children' in node) return node.children.flatMap(pathsOf);
  return node.kind === 'not' ? pathsOf(node.child) : [node.path.join('.')];
}

/** `wanted` is the number of matches after which the caller stops; 0: all. */
function* matchRecords(
  reader: Reader,
  collection: Collection,
  { filter }: QuerySpec,
  plan: Plan,
  wanted: number,
): Generator<Found> {
  const began = reader.generation;
  const matches = compileMatcher(filter);
  const step = plan.exact && wanted > 0 ? Math.min(wanted, LAST_STEP) : FIRST_STEP;
  const scanned = plan.kind === 'OR' ? scanBranches(reader, plan, step) : scanRanges(reader, plan, step);
  for (const { recordId, entry } of scanned) {
    // Others may have written between two batches of a cursor: what was read ahead is then read again.
    const fresh = reader.generation === began;
    const bytes = plan.kind === 'COLLSCAN' && fresh ? entry.value : collection.read(reader, recordId);
    if (!bytes) continue;
    if (plan.exact && fresh) {
      yield { recordId, bytes };
      continue;
    }
    const document = decode(bytes);
    if (matches(document)) yield { recordId, bytes, document };
  }
}

/** The records of several scans, each once. */
function* scanBranches(reader: Reader, { branches }: OrScan, step: number): Generator<Scanned> {
  const seen = new Set<number>();
  for (const branch of branches)
    for (const found of scanRanges(reader, branch, step))
      if (!seen.has(found.recordId) && seen.add(found.recordId)) yield found;
}

function* scanRanges(reader: Reader, plan: RangeScan, step: number): Generator<Scanned> {
  const inValue = plan.kind === 'IXSCAN' && plan.index.spec.unique;
  for (const range of plan.ranges)
    for (const entry of walk(reader, range, step))
      yield {
        entry,
        recordId: inValue ? entry.value.readUIntBE(0, RECORD_ID_BYTES) : trailingRecordId(entry.key),
      };
}

/** The entries of a range, read step by step. */
function* walk(reader: Reader, { start, end, reverse }: KeyRange, first: number): Generator<Entry> {
  for (let step = first; ; step = Math.min(step * 4, LAST_STEP)) {
    const entries = reader.entries({ start, end, reverse }, step);
    yield* entries;
    const last = entries.at(-1);
    if (!last || entries.length < step) return;
    if (reverse) end = last.key;
    else start = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
