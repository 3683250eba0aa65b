import { BSONRegExp } from 'bson';
import {
  checkStorable,
  type Document,
  isDocument,
  isNullish,
  isOperatorDocument,
  isTruthy,
  numericValue,
} from '../values/bson-types.js';
import { badValue, failedToParse, notServed } from '../values/errors.js';
import { type FieldPath, parsePath } from '../values/field-path.js';
import { compileRegex } from './regex.js';

export type Range = 'gt' | 'gte' | 'lt' | 'lte';

/** A parsed filter. The matcher compiles it, the planner reads index bounds from it. */
export type FilterNode =
  | { kind: 'and' | 'or'; children: FilterNode[] }
  | { kind: 'not'; child: FilterNode }
  | { kind: 'in'; path: FieldPath; values: unknown[] }
  | { kind: 'range'; path: FieldPath; op: Range; value: unknown }
  | { kind: 'regex'; path: FieldPath; pattern: RegExp }
  | { kind: 'exists'; path: FieldPath };

/** Parses a filter document. Throws BadValue or FailedToParse as mongod does, NotImplemented for other operators. */
export function parseFilter(filter: unknown): FilterNode {
  if (!isDocument(filter)) throw failedToParse('the match filter must be an expression in an object');
  const children = Object.keys(filter).flatMap((key) => {
    const value = filter[key];
    if (key === '$and' || key === '$or') return [parseLogical(key, value)];
    if (key.startsWith('$')) throw notServed(`the filter operator ${key}`);
    return parseField(parsePath(key), value);
  });
  return conjunction(children);
}

/** The conjunction of these filters. */
export function conjunction(children: FilterNode[]): FilterNode {
  return children.length === 1 ? (children[0] as FilterNode) : { kind: 'and', children };
}

/** The conditions that every match fulfils; an $or of one branch is that branch. */
export function conjunctsOf(node: FilterNode): FilterNode[] {
  const isConjunction = node.kind === 'and' || (node.kind === 'or' && node.children.length === 1);
  return isConjunction ? node.children.flatMap(conjunctsOf) : [node];
}

function parseLogical(operator: '$and' | '$or', value: unknown): FilterNode {
  if (!Array.isArray(value) || value.length === 0) throw badValue(`${operator} must be a nonempty array`);
  return { kind: operator === '$and' ? 'and' : 'or', children: value.map(parseFilter) };
}

function parseField(path: FieldPath, value: unknown): FilterNode[] {
  if (value instanceof BSONRegExp)
    return [{ kind: 'regex', path, pattern: compileRegex(value.pattern, value.options) }];
  if (!isOperatorDocument(value)) return [equality(path, value)];
  return Object.keys(value)
    .filter((operator) => operator !== '$options' || !Object.hasOwn(value, '$regex'))
    .map((operator) => parseOperator(path, operator, value));
}

function parseOperator(path: FieldPath, operator: string, operators: Document): FilterNode {
  const value = operators[operator];
  switch (operator) {
    case '$eq':
      return equality(path, value);
    case '$ne':
      return { kind: 'not', child: equality(path, value) };
    case '$in':
      return parseIn(path, operator, value);
    case '$nin':
      return { kind: 'not', child: parseIn(path, operator, value) };
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return parseRange(path, operator, value);
    case '$exists': {
      const exists: FilterNode = { kind: 'exists', path };
      return isTruthy(value) ? exists : { kind: 'not', child: exists };
    }
    case '$regex': {
      const { pattern, options } = value instanceof BSONRegExp ? value : { pattern: value, options: '' };
      return { kind: 'regex', path, pattern: compileRegex(pattern, operators.$options ?? options) };
    }
    default:
      throw notServed(`the filter operator ${operator}`);
  }
}

function equality(path: FieldPath, value: unknown): FilterNode {
  return { kind: 'in', path, values: [served('equality', value)] };
}

function parseIn(path: FieldPath, operator: string, value: unknown): FilterNode {
  if (!Array.isArray(value)) throw badValue(`${operator} needs an array`);
  if (value.some(isOperatorDocument)) throw badValue(`cannot nest $ under ${operator}`);
  return { kind: 'in', path, values: value.map((item) => served(operator, item)) };
}

/** Only values of one type compare. Refuses those with special rules: null, NaN, documents, arrays. */
function parseRange(path: FieldPath, operator: string, value: unknown): FilterNode {
  if (isNullish(value) || isDocument(value) || Array.isArray(value) || Number.isNaN(numericValue(value)))
    throw notServed(`${operator} with null, NaN, a document or an array`);
  return { kind: 'range', path, op: operator.slice(1) as Range, value: served(operator, value) };
}

/** Throws NotImplemented for a value of another type. */
function served(operator: string, value: unknown): unknown {
  if (value instanceof BSONRegExp) throw notServed(`${operator} with a regular expression`);
  checkStorable(value);
  return value;
}
