import { BSONRegExp, type Decimal128 } from 'bson';
import { compareValues, equalValues, isNullish, sameBracket } from '../values/bson-order.js';
import {
  type Document,
  isDocument,
  isTruthy,
  numericValue,
  regexParts,
  TypeOrder,
  typeInfo,
  typeOrder,
} from '../values/bson-types.js';
import { type FieldPath, someAtPath } from '../values/field-path.js';
import { encodeValue } from '../values/key-encoding.js';
import type { Comparison, FilterNode, RegexSource } from './filter.js';

/** Says whether a decoded document matches. */
export type Matcher = (document: unknown) => boolean;

/** Above this many members $in looks keys up in a set instead of comparing one by one. */
const IN_SET_FROM = 8;

/** Compiles a parsed filter to a predicate that allocates next to nothing per document. */
export function compileMatcher(node: FilterNode): Matcher {
  switch (node.kind) {
    case 'and': {
      const children = node.children.map(compileMatcher);
      return (document) => children.every((child) => child(document));
    }
    case 'or': {
      const children = node.children.map(compileMatcher);
      return (document) => children.some((child) => child(document));
    }
    case 'nor': {
      const children = node.children.map(compileMatcher);
      return (document) => !children.some((child) => child(document));
    }
    case 'not': {
      const child = compileMatcher(node.child);
      return (document) => !child(document);
    }
    case 'compare':
      return atLeaves(node.path, compareLeaf(node.op, node.value));
    case 'in':
      return atLeaves(node.path, inLeaf(node.values, node.patterns));
    case 'regex': {
      const { pattern, source } = node;
      return atLeaves(node.path, (value) => matchesRegex(value, pattern) || isSameRegex(value, source));
    }
    case 'type': {
      const { types } = node;
      return atLeaves(node.path, (value) => value !== undefined && types.has(typeInfo(value).number));
    }
    case 'exists': {
      const { path } = node;
      return (document) => someAtPath(document, path, (value) => value !== undefined);
    }
    case 'size': {
      const { path, size } = node;
      return (document) =>
        someAtPath(document, path, (value) => Array.isArray(value) && value.length === size);
    }
    case 'elemMatch': {
      const { path, ofValues } = node;
      const child = compileMatcher(node.child);
      const test = (item: unknown) => {
        if (ofValues) return child(item);
        // An array inside the array counts as a document whose fields are its positions.
        return (isDocument(item) || Array.isArray(item)) && child(Array.isArray(item) ? { ...item } : item);
      };
      return (document) => someAtPath(document, path, (value) => Array.isArray(value) && value.some(test));
    }
    case 'expr': {
      const { expression } = node;
      return (document) => isTruthy(expression(document as Document));
    }
  }
}

/** Tests each value a path leads to, and each element of a value that is an array. */
function atLeaves(path: FieldPath, leaf: (value: unknown) => boolean): Matcher {
  const visit = (value: unknown): boolean => leaf(value) || (Array.isArray(value) && value.some(leaf));
  // An empty path is an array element inside $elemMatch: the value itself, arrays in it unexpanded.
  if (path.length === 0) return leaf;
  const [only] = path;
  if (path.length === 1 && only !== undefined)
    return (document) => {
      if (!isDocument(document)) return someAtPath(document, path, visit);
      return visit(Object.hasOwn(document, only) ? document[only] : undefined);
    };
  return (document) => someAtPath(document, path, visit);
}

function compareLeaf(op: Comparison, operand: unknown): (value: unknown) => boolean {
  if (isNullish(operand)) {
    // Only equality is defined between nulls; a missing field counts as null.
    return op === 'gt' || op === 'lt' ? () => false : isNullish;
  }
  if (op === 'eq') return equalityLeaf(operand);
  const order = typeOrder(operand);
  const nan = Number.isNaN(Number(numericValue(operand) ?? 0));
  return (value) => {
    if (value === undefined || !sameBracket(operand, value)) return false;
    // NaN equals itself and is neither below nor above any number.
    if (order === TypeOrder.number && (nan || isNaNValue(value)))
      return nan && isNaNValue(value) && (op === 'gte' || op === 'lte');
    const result = compareValues(value, operand);
    if (op === 'gt') return result > 0;
    if (op === 'gte') return result >= 0;
    return op === 'lt' ? result < 0 : result <= 0;
  };
}

function isNaNValue(value: unknown): boolean {
  const number = numericValue(value);
  return number === undefined ? String(value as Decimal128) === 'NaN' : Number.isNaN(Number(number));
}

function equalityLeaf(operand: unknown): (value: unknown) => boolean {
  if (typeof operand === 'string') return (value) => value === operand || equalValues(value, operand);
  return (value) => value !== undefined && equalValues(value, operand);
}

function inLeaf(values: unknown[], patterns: RegExp[]): (value: unknown) => boolean {
  const withNull = values.some(isNullish);
  const isPattern = (value: unknown) => patterns.some((pattern) => matchesRegex(value, pattern));
  if (values.length < IN_SET_FROM) {
    const leaves = values.map((value) => compareLeaf('eq', value));
    return (value) => leaves.some((leaf) => leaf(value)) || isPattern(value);
  }
  const keys = new Set(values.map((value) => encodeValue(value).toString('latin1')));
  return (value) => {
    if (isNullish(value)) return withNull;
    return keys.has(encodeValue(value).toString('latin1')) || isPattern(value);
  };
}

function matchesRegex(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isSameRegex(value: unknown, source: RegexSource): boolean {
  if (!(value instanceof BSONRegExp)) return false;
  const parts = regexParts(value);
  return parts.pattern === source.pattern && parts.options === source.options;
}
