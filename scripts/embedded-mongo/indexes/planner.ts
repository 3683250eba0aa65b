import type { FilterNode } from '../query/filter.js';
import type { SortField } from '../query/sort.js';
import { type Collection, type Index, identPrefix, identRange } from '../storage/collection.js';
import type { KeyRange } from '../storage/storage.js';
import { compareValues, equalValues } from '../values/bson-order.js';
import { isDocument } from '../values/bson-types.js';
import { badValue } from '../values/errors.js';
import { isArrayIndex } from '../values/field-path.js';
import { above, boundsOf, type FieldBounds, intersect, storedPoints, storedRange } from './index-bounds.js';
import { conjunctsOf, serves } from './index-implication.js';
import { MAX_KEY_BYTES } from './index-keys.js';

/** A range of index keys; the first `prefix` bytes of each key are left out of the order when ranges are merged. */
export interface ScanRange extends KeyRange {
  prefix: number;
}

export interface CollectionScan {
  kind: 'COLLSCAN';
  ranges: ScanRange[];
  sorted: boolean;
  exact: boolean;
}

export interface IndexScan {
  kind: 'IXSCAN';
  index: Index;
  ranges: ScanRange[];
  reverse: boolean;
  /** The scan yields the wanted order, at once or by merging its ranges. */
  sorted: boolean;
  merge: boolean;
  /** Every key in the ranges belongs to a matching document: nothing is left to match. */
  exact: boolean;
  /** False where the whole index is read. */
  bounded: boolean;
  score: number;
}

/** The union of the scans of an $or's branches. */
export interface OrScan {
  kind: 'OR';
  branches: IndexScan[];
  sorted: boolean;
  exact: boolean;
}

export type Plan = CollectionScan | IndexScan | OrScan;

const BAD_HINT = 'error processing query: planner returned error: bad hint';

/** $in lists on several fields multiply; past this many ranges the later fields are left to the matcher. */
const MAX_RANGES = 4000;

/** Merging looks at the heads of all ranges for each key; past this many, sorting what was found is cheaper. */
const MAX_MERGED = 1000;

/** What an $elemMatch says about the fields of its elements; enough for bounds, never for an exact plan. */
function insideElements(node: FilterNode): FilterNode[] {
  if (node.kind !== 'elemMatch') return [];
  return conjunctsOf(node.child).flatMap((child) =>
    // A number there is a field of the element, or its position if it is an array; in an index's path it is neither.
    'path' in child && !isArrayIndex(child.path[0] ?? '')
      ? [{ ...child, path: [...node.path, ...child.path] }]
      : [],
  );
}

/** Chooses how to find the documents of a filter, in the order of `sort` if an index can. */
export function planQuery(
  collection: Collection,
  filter: FilterNode,
  sort: readonly SortField[],
  hint?: unknown,
): Plan {
  const conjuncts = conjunctsOf(filter);
  if (hint !== undefined) {
    const index = hintedIndex(collection, hint);
    if (index?.spec.partial && !serves(index, conjuncts)) throw badValue(BAD_HINT);
    if (index) return planIndex(index, conjuncts, sort);
    return collectionScan(collection, conjuncts, sort, hint);
  }
  if (sort[0]?.name === '$natural') return collectionScan(collection, conjuncts, sort, undefined);
  let best: IndexScan | undefined;
  for (const index of collection.indexes) {
    if (!serves(index, conjuncts)) continue;
    const plan = planIndex(index, conjuncts, sort);
    if (plan.score > (best?.score ?? 0)) best = plan;
  }
  if (!best?.bounded) {
    const union = planOr(collection, conjuncts, sort);
    if (union) return union;
  }
  return best ?? collectionScan(collection, conjuncts, sort, undefined);
}

function collectionScan(
  collection: Collection,
  conjuncts: readonly FilterNode[],
  sort: readonly SortField[],
  hint: unknown,
): CollectionScan {
  const natural = sort[0]?.name === '$natural';
  const backwards =
    (natural && sort[0]?.descending) || (isDocument(hint) && compareValues(hint.$natural, -1) === 0);
  return {
    kind: 'COLLSCAN',
    ranges: [{ ...identRange(collection.ident), reverse: backwards === true, prefix: 4 }],
    sorted: sort.length === 0 || natural,
    exact: conjuncts.length === 0,
  };
}

/** The index a hint names; undefined for $natural. Throws BadValue (2) when there is no such index. */
function hintedIndex(collection: Collection, hint: unknown): Index | undefined {
  if (isDocument(hint) && Object.hasOwn(hint, '$natural')) return undefined;
  const index = collection.indexes.find(({ spec }) =>
    typeof hint === 'string' ? spec.name === hint : equalValues(spec.document.key, hint),
  );
  if (!index) throw badValue(BAD_HINT);
  return index;
}

/** Plans one index: equality prefix, then one range; what they do not say is left to the matcher. */
function planIndex(index: Index, conjuncts: readonly FilterNode[], sort: readonly SortField[]): IndexScan {
  const { fields } = index.spec;
  const bounds: { name: string; descending: boolean; bounds: FieldBounds }[] = [];
  const used = new Set<FilterNode>();
  let exact = !index.multikey;
  let ranges = 1;
  const candidates = [...conjuncts, ...conjuncts.flatMap(insideElements)];
  for (const field of fields) {
    // Two fields of one array may match in different elements, which compound bounds would miss.
    if (index.multikey && bounds.some((other) => other.name.split('.')[0] === field.path[0])) break;
    let found: FieldBounds | undefined;
    for (const node of candidates) {
      if (pathOf(node) !== field.name) continue;
      const single = boundsOf(node);
      if (!single) continue;
      // On an array each predicate may hold for another element: bounds cannot be intersected.
      if (found && index.multikey) continue;
      found = found ? intersect(found, single) : single;
      used.add(node);
    }
    const factor = found?.points?.length ?? 1;
    if (!found || (bounds.length > 0 && factor > 1 && ranges * factor > MAX_RANGES)) break;
    ranges *= factor;
    exact &&= found.exact;
    bounds.push({ name: field.name, descending: field.descending, bounds: found });
    if (!found.points) break;
  }
  exact &&= conjuncts.every((node) => used.has(node) && bounds.some((field) => field.name === pathOf(node)));
  const order = sortOrder(index, bounds, sort);
  const equalities = bounds.filter((field) => field.bounds.points).length;
  return {
    kind: 'IXSCAN',
    index,
    ranges: scanRanges(index, bounds, order),
    reverse: order.reverse,
    sorted: sort.length === 0 || order.provided,
    merge: order.merged !== undefined,
    exact,
    bounded: bounds.length > 0,
    score:
      equalities * 20 +
      (bounds.length > equalities ? 10 : 0) +
      (order.provided ? 15 : 0) +
      (index.spec.unique && equalities === fields.length ? 1000 : 0) +
      (exact && bounds.length > 0 ? 2 : 0) +
      // Without bounds such an index still holds fewer documents than the collection.
      (index.spec.partial || index.spec.sparse ? 1 : 0),
  };
}

function pathOf(node: FilterNode): string | undefined {
  if ('path' in node) return node.path.join('.');
  return node.kind === 'not' ? pathOf(node.child) : undefined;
}

interface Order {
  /** The scan yields the wanted order. */
  provided: boolean;
  reverse: boolean;
  /** How many index fields come before the order; set when ranges have to be merged by what follows them. */
  merged?: number;
}

/** Whether a scan gives the sort order: by itself, backwards, or by merging the ranges of several points. */
function sortOrder(
  index: Index,
  bounds: readonly { name: string; bounds: FieldBounds }[],
  sort: readonly SortField[],
): Order {
  const none = { provided: false, reverse: false };
  if (sort.length === 0 || index.multikey) return none;
  const count = (field: { name: string }) =>
    bounds.find(({ name }) => name === field.name)?.bounds.points?.length ?? 0;
  // What is the same in all keys of the scan does not order them.
  const wanted = sort.filter((field) => count(field) !== 1);
  const given = index.spec.fields.filter((field) => count(field) !== 1);
  const ranges = bounds.reduce((product, field) => product * Math.max(1, count(field)), 1);
  // Fields of several points that come first may be left out, if ranges are merged by the fields after them.
  const left = given.findIndex((field) => count(field) < 2 || field.name === wanted[0]?.name);
  for (const skipped of ranges <= MAX_MERGED && left > 0 ? [0, left] : [0]) {
    const turned = wanted.map((field, i) => {
      const other = given[skipped + i];
      return other?.name === field.name ? other.descending !== field.descending : undefined;
    });
    const [reverse = false] = turned;
    if (!turned.every((turn) => turn === reverse)) continue;
    if (skipped === 0) return { provided: true, reverse };
    const first = given[skipped];
    return { provided: true, reverse, merged: first ? index.spec.fields.indexOf(first) : bounds.length };
  }
  return none;
}

/** The key ranges of the bounds, in the order of the scan. */
function scanRanges(
  index: Index,
  bounds: readonly { descending: boolean; bounds: FieldBounds }[],
  { reverse, merged = bounds.length }: Order,
): ScanRange[] {
  const whole = identPrefix(index.ident);
  let prefixes = [{ key: whole, prefix: whole.length }];
  let within: { start: Buffer; end: Buffer } | undefined;
  for (const [i, field] of bounds.entries()) {
    if (!field.bounds.points) {
      within = storedRange(field.bounds, field.descending);
      break;
    }
    const points = storedPoints(field.bounds, field.descending);
    prefixes = prefixes.flatMap(({ key, prefix }) =>
      points.map((point) => ({
        key: Buffer.concat([key, point]),
        prefix: prefix + (i < merged ? point.length : 0),
      })),
    );
  }
  const ranges = prefixes
    .map(({ key, prefix }) => ({
      start: storable(within ? Buffer.concat([key, within.start]) : key),
      end: storable(within ? Buffer.concat([key, within.end]) : above(key)),
      reverse,
      prefix,
    }))
    .filter(({ start, end }) => Buffer.compare(start, end) < 0);
  return reverse ? ranges.reverse() : ranges;
}

/** A bound that is longer than any key stands between the same keys as the first bound of their length above it. */
function storable(bound: Buffer): Buffer {
  return bound.length > MAX_KEY_BYTES ? above(bound.subarray(0, MAX_KEY_BYTES)) : bound;
}

/** An $or whose every branch has an index is the union of those scans. */
function planOr(
  collection: Collection,
  conjuncts: readonly FilterNode[],
  sort: readonly SortField[],
): OrScan | undefined {
  for (const node of conjuncts) {
    if (node.kind !== 'or' || node.children.length === 0) continue;
    const plans = node.children.map((child) => planQuery(collection, child, []));
    const branches = plans.map(branchesOf);
    if (branches.some((scans) => scans.length === 0)) continue;
    return {
      kind: 'OR',
      branches: branches.flat(),
      sorted: sort.length === 0,
      exact: conjuncts.length === 1 && plans.every((plan) => plan.exact),
    };
  }
  return undefined;
}

/** The index scans whose union is a plan; none for one that reads a whole collection or index. */
function branchesOf(plan: Plan): IndexScan[] {
  if (plan.kind === 'OR') return plan.branches;
  return plan.kind === 'IXSCAN' && plan.bounded ? [plan] : [];
}
