import { isDocument, isNullish, typeOrder } from '../values/bson-types.js';
import { compareValues, equalValues } from '../values/compare.js';
import { type FieldPath, someAtPath } from '../values/field-path.js';
import { keyText } from '../values/key-encoding.js';
import type { FilterNode, Range } from './filter.js';

/** Whether a decoded document matches. */
export type Matcher = (document: unknown) => boolean;

type Leaf = (value: unknown) => boolean;

/** From this many members on, $in looks keys up in a set instead of comparing them singly. */
const IN_SET_FROM = 8;

/** Compiles a parsed filter to a predicate that allocates hardly anything per document. */
export function compileMatcher(node: FilterNode): Matcher {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const children = node.children.map(compileMatcher);
      if (node.kind === 'or') return (document) => children.some((child) => child(document));
      return (document) => children.every((child) => child(document));
    }
    case 'not': {
      const child = compileMatcher(node.child);
      return (document) => !child(document);
    }
    case 'in':
      return atLeaves(node.path, inLeaf(node.values));
    case 'range':
      return atLeaves(node.path, rangeLeaf(node.op, node.value));
    case 'regex': {
      const { pattern } = node;
      return atLeaves(node.path, (value) => typeof value === 'string' && pattern.test(value));
    }
    case 'exists':
      return atPath(node.path, (value) => value !== undefined);
  }
}

/** Tests each value that a path leads to. */
function atPath(path: FieldPath, test: Leaf): Matcher {
  const [only] = path as [string];
  if (path.length > 1) return (document) => someAtPath(document, path, test);
  return (document) =>
    test(isDocument(document) && Object.hasOwn(document, only) ? document[only] : undefined);
}

/** Tests each value that a path leads to, and each element of a value that is an array. */
function atLeaves(path: FieldPath, leaf: Leaf): Matcher {
  return atPath(path, (value) => leaf(value) || (Array.isArray(value) && value.some(leaf)));
}

function rangeLeaf(op: Range, operand: unknown): Leaf {
  const order = typeOrder(operand);
  const wantsAbove = op === 'gt' || op === 'gte';
  const takesEqual = op === 'gte' || op === 'lte';
  return (value) => {
    if (typeOrder(value) !== order) return false;
    const result = compareValues(value, operand);
    if (result === 0) return takesEqual;
    // NaN lies below all numbers, but is not less than any.
    return wantsAbove ? result > 0 : result < 0 && compareValues(value, Number.NaN) !== 0;
  };
}

function inLeaf(values: unknown[]): Leaf {
  const leaves = values.map(equalityLeaf);
  const [only] = leaves;
  if (only && leaves.length === 1) return only;
  if (leaves.length < IN_SET_FROM) return (value) => leaves.some((leaf) => leaf(value));
  const keys = new Set(values.map(keyText));
  return (value) => keys.has(keyText(value ?? null));
}

/** A missing field equals null. */
function equalityLeaf(operand: unknown): Leaf {
  if (operand === null) return isNullish;
  return (value) => value !== undefined && equalValues(operand, value);
}
