import { type Document, setOwn } from './bson-types.js';
import type { FieldPath } from './field-path.js';
import type { FilterNode } from './filter.js';
import { compileMatcher } from './matcher.js';

/** The first element that satisfies a predicate of the query on this array; -1 when the query has none. */
export function matchedPosition(
  document: Document,
  path: FieldPath,
  array: readonly unknown[],
  filter: FilterNode,
): number {
  const where = path.join('.');
  for (const node of conjunctsWithin(filter)) {
    if (!('path' in node) || !`${node.path.join('.')}.`.startsWith(`${where}.`)) continue;
    const matches = compileMatcher(node);
    // Seen alone, an element satisfies the predicate or it does not.
    const index = array.findIndex((element) => matches(withArray(document, path, [element])));
    if (index >= 0) return index;
  }
  return -1;
}

function conjunctsWithin(node: FilterNode): FilterNode[] {
  return node.kind === 'and' || node.kind === 'or' ? node.children.flatMap(conjunctsWithin) : [node];
}

function withArray(value: unknown, path: FieldPath, array: unknown[]): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return array;
  if (Array.isArray(value))
    return value.map((item, i) => (String(i) === part ? withArray(item, rest, array) : item));
  const copy: Document = { ...(value as Document) };
  setOwn(copy, part, withArray(copy[part], rest, array));
  return copy;
}
