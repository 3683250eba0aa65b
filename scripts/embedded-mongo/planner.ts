import { compareValues, equalValues } from './bson-order.js';
import { isDocument } from './bson-types.js';
import { type Collection, type Index, identPrefix, identRange } from './collection.js';
import { badValue } from './errors.js';
import type { FilterNode } from './filter.js';
import { above, boundsOf, type FieldBounds, intersect, storedPoints, storedRange } from './index-bounds.js';
import { conjunctsOf, serves } from './index-implication.js';
import type { SortField } from './sort.js';
import type { KeyRange } from './storage.js';

/** A range of index keys; `prefix` bytes of it are the same in all its keys. */
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
  bounds: Record<string, string[]>;
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

/** More ranges than this are not worth planning; $in lists multiply. */
const MAX_RANGES = 4000;

/** What an $elemMatch says about the fields of its elements; enough for bounds, never for an exact plan. */
function insideElements(node: FilterNode): FilterNode[] {
  if (node.kind !== 'elemMatch') return [];
  return conjunctsOf(node.child).flatMap((child) =>
    'path' in child ? [{ ...child, path: [...node.path, ...child.path] }] : [],
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
  if (!best || Object.keys(best.bounds).length === 0) {
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
export function planIndex(
  index: Index,
  conjuncts: readonly FilterNode[],
  sort: readonly SortField[],
): IndexScan {
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
    if (!found || ranges * (found.points?.length ?? 1) > MAX_RANGES) break;
    ranges *= found.points?.length ?? 1;
    exact &&= found.exact;
    bounds.push({ name: field.name, descending: field.descending, bounds: found });
    if (!found.points) break;
  }
  exact &&= conjuncts.every((node) => used.has(node) && bounds.some((field) => field.name === pathOf(node)));
  const order = sortOrder(index, bounds, sort);
  const equalities = bounds.filter((field) => field.bounds.points).length;
  const plan: IndexScan = {
    kind: 'IXSCAN',
    index,
    ranges: scanRanges(index, bounds, order.reverse),
    reverse: order.reverse,
    sorted: sort.length === 0 || order.provided,
    merge: order.merge,
    exact,
    bounds: Object.fromEntries(bounds.map((field) => [field.name, [field.bounds.text]])),
    score: 0,
  };
  plan.score =
    equalities * 20 +
    (bounds.length > equalities ? 10 : 0) +
    (sort.length > 0 && order.provided ? 15 : 0) +
    (index.spec.unique && equalities === fields.length ? 1000 : 0) +
    (exact && bounds.length > 0 ? 2 : 0) +
    // Without bounds such an index still holds fewer documents than the collection.
    (index.spec.partial || index.spec.sparse ? 1 : 0);
  return plan;
}

function pathOf(node: FilterNode): string | undefined {
  if ('path' in node) return node.path.join('.');
  return node.kind === 'not' ? pathOf(node.child) : undefined;
}

/** Whether a scan gives the sort order: by itself, backwards, or by merging the ranges of several points. */
function sortOrder(
  index: Index,
  bounds: readonly { name: string; bounds: FieldBounds }[],
  sort: readonly SortField[],
): { provided: boolean; reverse: boolean; merge: boolean } {
  const none = { provided: false, reverse: false, merge: false };
  if (sort.length === 0 || index.multikey) return none;
  const count = (name: string) => bounds.find((field) => field.name === name)?.bounds.points?.length ?? 0;
  for (const merge of [false, true]) {
    const isConstant = (name: string) => (merge ? count(name) > 0 : count(name) === 1);
    const wanted = sort.filter((field) => count(field.name) !== 1);
    const given = index.spec.fields.filter(
      (field) => !isConstant(field.name) || (merge && wanted.some((other) => other.name === field.name)),
    );
    const turned = wanted.map((field, i) =>
      given[i]?.name === field.name ? given[i]?.descending !== field.descending : undefined,
    );
    const [first = false] = turned;
    if (turned.every((turn) => turn === first && turn !== undefined))
      return {
        provided: true,
        reverse: first,
        merge: merge && bounds.some((field) => count(field.name) > 1),
      };
  }
  return none;
}

function scanRanges(
  index: Index,
  bounds: readonly { descending: boolean; bounds: FieldBounds }[],
  reverse: boolean,
): ScanRange[] {
  let prefixes = [identPrefix(index.ident)];
  for (const field of bounds) {
    if (!field.bounds.points) {
      const { start, end } = storedRange(field.bounds, field.descending);
      return inOrder(
        prefixes.map((prefix) => ({
          start: Buffer.concat([prefix, start]),
          end: Buffer.concat([prefix, end]),
          reverse,
          prefix: prefix.length,
        })),
      );
    }
    const points = storedPoints(field.bounds, field.descending);
    prefixes = prefixes.flatMap((prefix) => points.map((point) => Buffer.concat([prefix, point])));
  }
  return inOrder(
    prefixes.map((prefix) => ({ start: prefix, end: above(prefix), reverse, prefix: prefix.length })),
  );
}

function inOrder(ranges: ScanRange[]): ScanRange[] {
  return ranges[0]?.reverse ? ranges.reverse() : ranges;
}

/** An $or whose every branch has an index is the union of those scans. */
function planOr(
  collection: Collection,
  conjuncts: readonly FilterNode[],
  sort: readonly SortField[],
): OrScan | undefined {
  for (const node of conjuncts) {
    if (node.kind !== 'or' || node.children.length === 0) continue;
    const branches: IndexScan[] = [];
    for (const child of node.children) {
      const plan = planQuery(collection, child, []);
      if (plan.kind === 'IXSCAN' && Object.keys(plan.bounds).length > 0) branches.push(plan);
      else if (plan.kind === 'OR') branches.push(...plan.branches);
    }
    if (branches.length >= node.children.length)
      return {
        kind: 'OR',
        branches,
        sorted: sort.length === 0,
        exact:
          conjuncts.length === 1 &&
          branches.length === node.children.length &&
          branches.every((b) => b.exact),
      };
  }
  return undefined;
}
