import { isDocument } from './bson-types.js';
import { notServed } from './errors.js';
import type { FieldPath } from './field-path.js';
import type { FilterNode } from './filter.js';
import { compileMatcher, type Matcher } from './matcher.js';

type Predicate = Extract<FilterNode, { path: FieldPath }>;

/** What a predicate gives for `$` when it holds without entering an array. */
const NOWHERE = -1;

/**
 * The position that `$` stands for: that of the element, in the outermost array a predicate of the query enters,
 * by which the predicate first holds; -1 when none enters one. Where several predicates hold by different elements
 * mongod's answer depends on its planner ("use $elemMatch" in the manual): refused, NotImplemented (238).
 */
export function matchedPosition(document: unknown, query: FilterNode): number {
  switch (query.kind) {
    case 'and':
      return agreed(
        query.children
          .map((child) => matchedPosition(document, child))
          .filter((position) => position !== NOWHERE),
      );
    case 'or':
      return agreed(
        query.children
          .filter((child) => compileMatcher(child)(document))
          .map((child) => matchedPosition(document, child)),
      );
    case 'not':
    case 'nor':
    case 'expr':
      return NOWHERE;
    default:
      return firstMatch(query, leafOf(query), document, query.path) ?? NOWHERE;
  }
}

function agreed(positions: readonly number[]): number {
  const [first = NOWHERE] = positions;
  if (positions.some((position) => position !== first))
    throw notServed("'$' for a query whose conditions match different elements (use $elemMatch)");
  return first;
}

function leafOf(query: Predicate): Matcher {
  return compileMatcher({ ...query, path: [] });
}

/** Where a predicate first holds, in mongod's order of looking; undefined where it does not hold. */
function firstMatch(query: Predicate, leaf: Matcher, value: unknown, rest: FieldPath): number | undefined {
  const [part, ...tail] = rest;
  if (part === undefined) {
    const position = Array.isArray(value) ? elementMatch(query, leaf, value) : NOWHERE;
    return position === NOWHERE && !leaf(value) ? undefined : position;
  }
  if (!Array.isArray(value)) {
    if (isDocument(value) && Object.hasOwn(value, part)) return firstMatch(query, leaf, value[part], tail);
    return leaf(undefined) ? NOWHERE : undefined;
  }
  for (const [position, element] of value.entries()) {
    if (isDocument(element) && firstMatch(query, leaf, element, rest) !== undefined) return position;
    // A position in the path itself is no answer, but an array further down may give one.
    const inside = part === String(position) ? firstMatch(query, leaf, element, tail) : undefined;
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** The first element by which a predicate on a whole array holds. */
function elementMatch(query: Predicate, leaf: Matcher, array: readonly unknown[]): number {
  if (query.kind === 'exists' || query.kind === 'size') return NOWHERE;
  return array.findIndex((element) => leaf(query.kind === 'elemMatch' ? [element] : element));
}
