import type { FilterNode } from '../query/filter.js';
import { compileMatcher } from '../query/matcher.js';
import { sortBy } from '../query/sort.js';
import { checkTime } from '../query/time-limit.js';
import { type Collection, RECORD_ID_BYTES, trailingRecordId } from '../storage/collection.js';
import type { Entry, KeyRange, Reader } from '../storage/storage.js';
import { type Document, decode } from '../values/bson-types.js';
import type { FieldOrder } from '../values/field-path.js';
import { type Plan, planQuery, type Scan } from './planner.js';

/** A query of a collection. `limit` 0 means all. */
export interface QuerySpec {
  filter: FilterNode;
  sort?: FieldOrder[];
  skip?: number;
  limit?: number;
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
  const { filter, sort = [], skip = 0, limit = 0 } = query;
  const plan = planQuery(collection, filter, sort);
  if (scansCollection(plan)) noteScan(collection, query);
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
function* decoded(records: Iterable<Found>): Generator<Found & { document: Document }> {
  for (const found of records) yield { ...found, document: found.document ?? decode(found.bytes) };
}

/** The documents of a query's records. */
export function* findDocuments(
  reader: Reader,
  collection: Collection,
  query: QuerySpec,
): Generator<Document> {
  for (const { document } of decoded(findRecords(reader, collection, query))) yield document;
}

/** Counts matching documents; a plan that is exact counts keys without reading a document. */
export function countRecords(reader: Reader, collection: Collection, query: QuerySpec): number {
  const plan = planQuery(collection, query.filter, []);
  let total = 0;
  const [only, ...others] = plan.scans;
  if (plan.exact && only && others.length === 0) {
    for (const { start, end } of only.ranges) total += reader.count(start, end);
  } else {
    if (scansCollection(plan)) noteScan(collection, query);
    for (const _ of matchRecords(reader, collection, query, plan, 0)) total++;
  }
  const { skip = 0, limit = 0 } = query;
  total = Math.max(0, total - skip);
  return limit > 0 ? Math.min(total, limit) : total;
}

/** Whether a plan scans the collection. */
const scansCollection = ({ scans }: Plan) => scans.some(({ index }) => !index);

/** Counts a collection scan by the fields of its query, so that a missing index can be found. */
function noteScan({ collectionScans }: Collection, { filter, sort = [] }: QuerySpec): void {
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
  const inEntries = scansCollection(plan);
  for (const { recordId, entry } of scanAll(reader, plan.scans, step)) {
    checkTime();
    // Others may have written between two batches of a cursor: what was read ahead is then read again.
    const fresh = reader.generation === began;
    const bytes = inEntries && fresh ? entry.value : collection.read(reader, recordId);
    if (!bytes) continue;
    if (plan.exact && fresh) {
      yield { recordId, bytes };
      continue;
    }
    const document = decode(bytes);
    if (matches(document)) yield { recordId, bytes, document };
  }
}

/** The entries of several scans, each record once. */
function* scanAll(reader: Reader, scans: readonly Scan[], step: number): Generator<Scanned> {
  const seen = new Set<number>();
  for (const scan of scans)
    for (const found of scanRanges(reader, scan, step)) {
      if (seen.has(found.recordId)) continue;
      if (scans.length > 1) seen.add(found.recordId);
      yield found;
    }
}

function* scanRanges(reader: Reader, { index, ranges }: Scan, step: number): Generator<Scanned> {
  for (const range of ranges)
    for (const entry of walk(reader, range, step)) {
      const { key, value } = entry;
      const recordId = index?.spec.unique ? value.readUIntBE(0, RECORD_ID_BYTES) : trailingRecordId(key);
      yield { entry, recordId };
    }
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
