import type { FilterNode } from '../query/filter.js';
import type { Index } from '../storage/collection.js';
import { compareValues, equalValues, isNullish, sameBracket } from '../values/bson-order.js';
import { TypeOrder, typeInfo, typeOrder } from '../values/bson-types.js';
import type { FieldPath } from '../values/field-path.js';

/** The top-level conjuncts of a filter. */
export function conjunctsOf(node: FilterNode): FilterNode[] {
  return node.kind === 'and' ? node.children.flatMap(conjunctsOf) : [node];
}

/** Whether an index holds every document that can match. */
export function serves(index: Index, conjuncts: readonly FilterNode[]): boolean {
  const { partial, sparse, fields } = index.spec;
  if (partial && !conjunctsOf(partial.filter).every((needed) => implies(conjuncts, needed))) return false;
  if (!sparse) return true;
  return fields.some((field) =>
    conjuncts.some((node) => 'path' in node && node.path.join('.') === field.name && demandsField(node)),
  );
}

/** Whether a predicate is false for every document without the field. */
function demandsField(node: Extract<FilterNode, { path: FieldPath }>): boolean {
  if (node.kind === 'compare') return !isNullish(node.value);
  return node.kind !== 'in' || !node.values.some(isNullish);
}

/** Whether documents that match all conjuncts certainly match `needed`. Says no when in doubt. */
function implies(conjuncts: readonly FilterNode[], needed: FilterNode): boolean {
  if (needed.kind === 'or') return needed.children.some((child) => implies(conjuncts, child));
  if (needed.kind === 'and') return needed.children.every((child) => implies(conjuncts, child));
  if (!('path' in needed)) return false;
  const path = needed.path.join('.');
  return conjuncts.some((node) => {
    if (!('path' in node) || node.path.join('.') !== path) return false;
    if (needed.kind === 'exists') return demandsField(node);
    const values = node.kind === 'in' && node.patterns.length === 0 ? node.values : [];
    if (node.kind === 'compare') values.push(node.value);
    if (values.length === 0)
      return node.kind === 'type' && needed.kind === 'type' && isSubset(node.types, needed.types);
    if (node.kind === 'compare' && node.op !== 'eq') return rangeImplies(node, needed);
    return values.every((value) => valueImplies(value, needed));
  });
}

function isSubset(inner: ReadonlySet<number>, outer: ReadonlySet<number>): boolean {
  return [...inner].every((item) => outer.has(item));
}

function valueImplies(value: unknown, needed: FilterNode): boolean {
  if (Array.isArray(value)) return false;
  if (needed.kind === 'in') return needed.values.some((other) => equalValues(value, other));
  if (needed.kind === 'type') return typeInfo(value).alias !== 'null' && impliesType(value, needed.types);
  if (needed.kind !== 'compare') return false;
  if (needed.op === 'eq') return equalValues(value, needed.value);
  if (!isOrdered(value) || !isOrdered(needed.value) || !sameBracket(needed.value, value)) return false;
  const order = compareValues(value, needed.value);
  if (needed.op === 'gt') return order > 0;
  if (needed.op === 'gte') return order >= 0;
  return needed.op === 'lt' ? order < 0 : order <= 0;
}

/**
 * Whether `$lt` and its kin mean by a value what its place in the order of values says: null and NaN are neither
 * below nor above anything, MinKey and MaxKey are compared with values of every type.
 */
function isOrdered(value: unknown): boolean {
  const order = typeOrder(value);
  if (order === TypeOrder.number) return compareValues(value, Number.NaN) !== 0;
  return ![TypeOrder.null, TypeOrder.minKey, TypeOrder.maxKey].some((other) => other === order);
}

/** An equal number may be stored as any of the four numeric types. */
function impliesType(value: unknown, types: ReadonlySet<number>): boolean {
  const { number } = typeInfo(value);
  return [1, 16, 18, 19].includes(number)
    ? [1, 16, 18, 19].every((type) => types.has(type))
    : types.has(number);
}

function rangeImplies(node: FilterNode & { kind: 'compare' }, needed: FilterNode): boolean {
  if (!isOrdered(node.value)) return false;
  if (needed.kind === 'type') return impliesType(node.value, needed.types);
  if (needed.kind !== 'compare' || !isOrdered(needed.value) || !sameBracket(needed.value, node.value))
    return false;
  const order = compareValues(node.value, needed.value);
  const upwards = node.op === 'gt' || node.op === 'gte';
  if (needed.op === 'gt') return upwards && (order > 0 || (order === 0 && node.op === 'gt'));
  if (needed.op === 'gte') return upwards && order >= 0;
  if (needed.op === 'lt') return !upwards && (order < 0 || (order === 0 && node.op === 'lt'));
  return needed.op === 'lte' && !upwards && order <= 0;
}
