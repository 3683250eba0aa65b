import { conjunctsOf, type FilterNode } from '../query/filter.js';
import { type Collection, type Index, identPrefix, identRange } from '../storage/collection.js';
import { MAX_KEY_BYTES } from '../storage/index-spec.js';
import type { KeyRange } from '../storage/storage.js';
import { isNullish } from '../values/bson-types.js';
import { equalValues } from '../values/compare.js';
import type { FieldOrder } from '../values/field-path.js';
import { above, type ByteRange, boundsOf, type FieldBounds, intersect, inverted } from './index-bounds.js';

/** A pass over ranges of keys, of an index or of the collection itself. */
export interface Scan {
  index?: Index;
  ranges: KeyRange[];
}

/** How the documents of a query are found. */
export interface Plan {
  /** Several: the union of the scans of an $or's branches. */
  scans: Scan[];
  /** The scan yields the wanted order. */
  sorted: boolean;
  /** Every entry in the ranges belongs to a matching document: no matcher is needed. */
  exact: boolean;
  /** False if a whole index or collection is read. */
  bounded: boolean;
}

/** $in lists on several fields multiply; past this many ranges the later fields are left to the matcher. */
const MAX_RANGES = 4000;

/** A condition that every match fulfils, with its bounds for an index on its path. */
interface Predicate {
  node: FilterNode;
  path: string | undefined;
  bounds: FieldBounds | undefined;
}

/** Chooses how to find the documents of a filter, in the order of `sort` if an index can. */
export function planQuery(collection: Collection, filter: FilterNode, sort: readonly FieldOrder[]): Plan {
  const predicates = conjunctsOf(filter).map((node) => ({
    node,
    path: pathOf(node),
    bounds: boundsOf(node),
  }));
  let best: Plan | undefined;
  let bestScore = 0;
  for (const index of collection.indexes) {
    if (!holdsMatches(index, predicates)) continue;
    const { score, ...plan } = planIndex(index, predicates, sort);
    if (score <= bestScore) continue;
    best = plan;
    bestScore = score;
  }
  if (best?.bounded) return best;
  const sorted = sort.length === 0;
  const scans = [{ ranges: [identRange(collection.ident)] }];
  const exact = predicates.length === 0;
  return planOr(collection, predicates, sorted) ?? best ?? { scans, sorted, exact, bounded: false };
}

function pathOf(node: FilterNode): string | undefined {
  if ('path' in node) return node.path.join('.');
  return node.kind === 'not' ? pathOf(node.child) : undefined;
}

/** Whether an index holds every document that can match: the filter implies the index's partial filter. */
function holdsMatches({ spec }: Index, predicates: readonly Predicate[]): boolean {
  return (spec.partial?.conjuncts ?? []).every((needed) =>
    predicates.some(({ node, path }) => path === pathOf(needed) && implies(node, needed)),
  );
}

/** Whether a condition on a path implies another one on it. */
function implies(node: FilterNode, needed: FilterNode): boolean {
  if (node.kind === 'in' && needed.kind === 'in')
    return node.values.every((value) => equalValues(value, needed.values[0]));
  if (needed.kind !== 'exists' || node.kind === 'not') return false;
  return node.kind !== 'in' || !node.values.some(isNullish);
}

/** Plans one index: conditions beyond its bounds are left to the matcher. Of several plans the highest score wins. */
function planIndex(
  index: Index,
  predicates: readonly Predicate[],
  sort: readonly FieldOrder[],
): Plan & { score: number } {
  const { bounds, exact } = indexBounds(index, predicates);
  const order = sortOrder(index, bounds, sort);
  return {
    scans: [{ index, ranges: keyRanges(index, bounds, order === 'backwards') }],
    sorted: sort.length === 0 || order !== 'none',
    exact,
    bounded: bounds.length > 0,
    score: scoreOf(index, bounds) + (order === 'none' ? 0 : 15),
  };
}

/** The bounds on the first fields of an index: points of some, then a range of one. */
function indexBounds(
  { spec }: Index,
  predicates: readonly Predicate[],
): { bounds: FieldBounds[]; exact: boolean } {
  const bounds: FieldBounds[] = [];
  let used = 0;
  let ranges = 1;
  for (const { name, descending } of spec.fields) {
    const found = predicates.flatMap((one) => (one.path === name && one.bounds ? [one.bounds] : []));
    if (found.length === 0) break;
    const all = found.reduce(intersect);
    ranges *= all.points?.length ?? 1;
    if (bounds.length > 0 && ranges > MAX_RANGES) break;
    bounds.push(descending ? inverted(all) : all);
    used += found.length;
    if (!all.points) break;
  }
  return { bounds, exact: used === predicates.length && bounds.every((field) => field.exact) };
}

function scoreOf({ spec }: Index, bounds: readonly FieldBounds[]): number {
  const equalities = bounds.filter((field) => field.points).length;
  let score = equalities * 20;
  if (bounds.length > equalities) score += 10;
  if (spec.unique && equalities === spec.fields.length) score += 1000;
  // Without bounds such an index still holds fewer documents than the collection.
  return spec.partial ? score + 1 : score;
}

/** Whether a scan gives the sort order. */
function sortOrder(
  { spec }: Index,
  bounds: readonly FieldBounds[],
  sort: readonly FieldOrder[],
): 'forwards' | 'backwards' | 'none' {
  if (sort.length === 0) return 'none';
  // Fields that are equal in all keys of the scan do not order them.
  const given = spec.fields.filter((_, i) => bounds[i]?.points?.length !== 1);
  const fixed = new Set(spec.fields.filter((field) => !given.includes(field)).map((field) => field.name));
  const wanted = sort.filter((field) => !fixed.has(field.name));
  const turned = wanted.map(({ name, descending }, i) =>
    given[i]?.name === name ? given[i].descending !== descending : undefined,
  );
  const [backwards = false] = turned;
  if (!turned.every((turn) => turn === backwards)) return 'none';
  return backwards ? 'backwards' : 'forwards';
}

/** The key ranges of the bounds, in the order of the scan. */
function keyRanges(index: Index, bounds: readonly FieldBounds[], reverse: boolean): KeyRange[] {
  let prefixes = [identPrefix(index.ident)];
  let range: ByteRange | undefined;
  for (const field of bounds) {
    range = field.range;
    const { points } = field;
    if (points)
      prefixes = prefixes.flatMap((prefix) => points.map((point) => Buffer.concat([prefix, point])));
  }
  const ranges = prefixes
    .map((prefix) => ({
      start: storable(range ? Buffer.concat([prefix, range.start]) : prefix),
      end: storable(range ? Buffer.concat([prefix, range.end]) : above(prefix)),
      reverse,
    }))
    .filter(({ start, end }) => Buffer.compare(start, end) < 0);
  return reverse ? ranges.reverse() : ranges;
}

/** A bound longer than any key separates the same keys as the next higher bound of the longest key's length. */
function storable(bound: Buffer): Buffer {
  return bound.length > MAX_KEY_BYTES ? above(bound.subarray(0, MAX_KEY_BYTES)) : bound;
}

/** An $or whose every branch has an index is the union of those scans. */
function planOr(collection: Collection, predicates: readonly Predicate[], sorted: boolean): Plan | undefined {
  for (const { node } of predicates) {
    if (node.kind !== 'or') continue;
    const plans = node.children.map((child) => planQuery(collection, child, []));
    if (!plans.every(({ bounded }) => bounded)) continue;
    const exact = predicates.length === 1 && plans.every((plan) => plan.exact);
    return { scans: plans.flatMap(({ scans }) => scans), sorted, exact, bounded: true };
  }
  return undefined;
}
