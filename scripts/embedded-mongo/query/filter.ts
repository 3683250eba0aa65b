import { BSONRegExp } from 'bson';
import { type Expression, parseExpression } from '../aggregate/expressions.js';
import {
  type Document,
  isDocument,
  isTruthy,
  numericValue,
  TYPE_ALIASES,
  typeInfo,
} from '../values/bson-types.js';
import { badValue, CommandError, failedToParse, notServed, typeMismatch } from '../values/errors.js';
import { type FieldPath, parsePath } from '../values/field-path.js';
import { compileRegex } from './regex.js';

export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

/** A regular expression as MongoDB writes it. */
export interface RegexSource {
  pattern: string;
  options: string;
}

/** A parsed filter. The matcher compiles it, the planner reads index bounds from it. */
export type FilterNode =
  | { kind: 'and' | 'or' | 'nor'; children: FilterNode[] }
  | { kind: 'not'; child: FilterNode }
  | { kind: 'compare'; path: FieldPath; op: Comparison; value: unknown }
  | { kind: 'in'; path: FieldPath; values: unknown[]; patterns: RegExp[] }
  | { kind: 'regex'; path: FieldPath; pattern: RegExp; source: RegexSource }
  | { kind: 'exists'; path: FieldPath }
  | { kind: 'type'; path: FieldPath; types: ReadonlySet<number> }
  | { kind: 'size'; path: FieldPath; size: number }
  | { kind: 'elemMatch'; path: FieldPath; child: FilterNode; ofValues: boolean }
  | { kind: 'expr'; expression: Expression };

const NOT_SERVED = new Set([
  '$mod',
  '$where',
  '$text',
  '$jsonSchema',
  '$near',
  '$nearSphere',
  '$geoWithin',
  '$geoIntersects',
  '$within',
  '$bitsAllSet',
  '$bitsAnySet',
  '$bitsAllClear',
  '$bitsAnyClear',
]);

/** Operators that stand where a field could, not under one. */
const PATHLESS = ['$and', '$or', '$nor', '$expr', '$comment'];

/**
 * Parses a filter document. Throws BadValue and its kin as mongod does for unknown or malformed operators.
 * `inElement` says that it is a filter on the elements of an array.
 */
export function parseFilter(filter: unknown, inElement = false): FilterNode {
  if (!isDocument(filter)) throw failedToParse('the match filter must be an expression in an object');
  const children: FilterNode[] = [];
  for (const key of Object.keys(filter)) {
    const value = filter[key];
    if (key === '$and' || key === '$or' || key === '$nor') {
      children.push(parseLogical(key, value, inElement));
    } else if (key === '$expr') {
      if (inElement) throw badValue('$expr can only be applied to the top-level document');
      children.push({ kind: 'expr', expression: parseExpression(value) });
    } else if (key.startsWith('$')) {
      if (key === '$comment') continue;
      if (NOT_SERVED.has(key)) throw notServed(key);
      throw badValue(
        `unknown top level operator: ${key}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.`,
      );
    } else {
      children.push(...parseField(parsePath(key), value));
    }
  }
  return children.length === 1 ? (children[0] as FilterNode) : { kind: 'and', children };
}

function parseLogical(operator: string, value: unknown, inElement: boolean): FilterNode {
  if (!Array.isArray(value)) throw badValue(`${operator} argument must be an array`);
  if (value.length === 0) throw badValue('$and/$or/$nor must be a nonempty array');
  const children = value.map((item) => {
    if (!isDocument(item)) throw badValue('$or/$and/$nor entries need to be full objects');
    return parseFilter(item, inElement);
  });
  return { kind: operator.slice(1) as 'and' | 'or' | 'nor', children };
}

function parseField(path: FieldPath, value: unknown): FilterNode[] {
  if (value instanceof BSONRegExp) return [regexNode(path, value)];
  if (isOperatorDocument(value)) return parseOperators(path, value);
  return [comparison(path, 'eq', value)];
}

/** An operator document begins with a `$` field. */
function isOperatorDocument(value: unknown): value is Document {
  return isDocument(value) && Object.keys(value)[0]?.startsWith('$') === true;
}

function parseOperators(path: FieldPath, operators: Document): FilterNode[] {
  const nodes: FilterNode[] = [];
  for (const operator of Object.keys(operators)) {
    const value = operators[operator];
    if (!operator.startsWith('$')) throw badValue(`unknown operator: ${operator}`);
    if (operator === '$options') {
      if (!Object.hasOwn(operators, '$regex')) throw badValue('$options needs a $regex');
      continue;
    }
    if (operator === '$all') nodes.push(...parseAll(path, value));
    else nodes.push(parseOperator(path, operator, value, operators));
  }
  return nodes;
}

function parseOperator(path: FieldPath, operator: string, value: unknown, siblings: Document): FilterNode {
  switch (operator) {
    case '$eq':
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return comparison(path, operator.slice(1) as Comparison, value);
    case '$ne':
      if (value instanceof BSONRegExp) throw badValue("Can't have regex as arg to $ne.");
      return { kind: 'not', child: comparison(path, 'eq', value) };
    case '$in':
      return parseIn(path, operator, value);
    case '$nin':
      return { kind: 'not', child: parseIn(path, operator, value) };
    case '$exists': {
      const exists: FilterNode = { kind: 'exists', path };
      return isTruthy(value) ? exists : { kind: 'not', child: exists };
    }
    case '$not':
      return parseNot(path, value);
    case '$regex':
      return parseRegex(path, value, siblings.$options);
    case '$type':
      return { kind: 'type', path, types: parseTypes(value) };
    case '$size':
      return { kind: 'size', path, size: parseSize(value) };
    case '$elemMatch':
      return parseElemMatch(path, value);
    default:
      if (NOT_SERVED.has(operator)) throw notServed(operator);
      throw badValue(`unknown operator: ${operator}`);
  }
}

function comparison(path: FieldPath, op: Comparison, value: unknown): FilterNode {
  if (op !== 'eq' && value instanceof BSONRegExp)
    throw badValue(`Can't have RegEx as arg to predicate over field '${path.join('.')}'.`);
  if (value === undefined) throw badValue('cannot compare to undefined');
  return { kind: 'compare', path, op, value };
}

function parseIn(path: FieldPath, operator: string, value: unknown): FilterNode {
  if (!Array.isArray(value)) throw badValue(`${operator} needs an array`);
  const values: unknown[] = [];
  const patterns: RegExp[] = [];
  for (const item of value) {
    if (isOperatorDocument(item)) throw badValue(`cannot nest $ under ${operator}`);
    if (item === undefined) throw badValue(`${operator} equality cannot be undefined`);
    if (item instanceof BSONRegExp) patterns.push(compileRegex(item.pattern, item.options));
    values.push(item);
  }
  return { kind: 'in', path, values, patterns };
}

function parseNot(path: FieldPath, value: unknown): FilterNode {
  if (value instanceof BSONRegExp) return { kind: 'not', child: regexNode(path, value) };
  if (!isDocument(value)) throw badValue('$not needs a regex or a document');
  if (Object.keys(value).length === 0) throw badValue('$not cannot be empty');
  return { kind: 'not', child: { kind: 'and', children: parseOperators(path, value) } };
}

function regexNode(path: FieldPath, source: RegexSource): FilterNode {
  return { kind: 'regex', path, source, pattern: compileRegex(source.pattern, source.options) };
}

function parseRegex(path: FieldPath, value: unknown, options: unknown): FilterNode {
  if (options !== undefined && typeof options !== 'string') throw badValue('$options has to be a string');
  if (value instanceof BSONRegExp) {
    if (options !== undefined && value.options)
      throw new CommandError(51075, 'options set in both $regex and $options');
    return regexNode(path, { pattern: value.pattern, options: options ?? value.options });
  }
  if (typeof value !== 'string') throw badValue('$regex has to be a string');
  return regexNode(path, { pattern: value, options: options ?? '' });
}

function parseTypes(value: unknown): ReadonlySet<number> {
  const types = new Set<number>();
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item === 'number') for (const type of [1, 16, 18, 19]) types.add(type);
    else if (typeof item === 'string') {
      const type = TYPE_ALIASES.get(item);
      if (type === undefined) throw badValue(`Unknown type name alias: ${item}`);
      types.add(type);
    } else {
      const type = Number(numericValue(item));
      if (![...TYPE_ALIASES.values()].includes(type))
        throw badValue(`Invalid numerical type code: ${String(item)}`);
      types.add(type);
    }
  }
  if (types.size === 0) throw failedToParse('$type must match at least one type');
  return types;
}

function parseSize(value: unknown): number {
  const size = numericValue(value);
  if (size === undefined) throw failedToParse('Failed to parse $size. Expected a number');
  if (!Number.isInteger(Number(size))) throw failedToParse('Failed to parse $size. Expected an integer');
  if (size < 0) throw failedToParse('Failed to parse $size. Expected a non-negative number');
  return Number(size);
}

function parseElemMatch(path: FieldPath, value: unknown): FilterNode {
  if (!isDocument(value)) throw badValue('$elemMatch needs an Object');
  const ofValues = !isFieldFilter(value);
  // Operators on the element itself are parsed with an empty path, which means "the value".
  const child: FilterNode = ofValues
    ? { kind: 'and', children: parseOperators([], value) }
    : parseFilter(value, true);
  return { kind: 'elemMatch', path, child, ofValues };
}

/** Whether a condition on an array element is a filter on its fields, rather than operators on the element itself. */
export function isFieldFilter(condition: Document): boolean {
  const [first = ''] = Object.keys(condition);
  return !first.startsWith('$') || PATHLESS.includes(first);
}

function parseAll(path: FieldPath, value: unknown): FilterNode[] {
  if (!Array.isArray(value)) throw badValue('$all needs an array');
  if (value.length === 0) return [{ kind: 'or', children: [] }];
  const nested = value.filter((item) => isDocument(item) && Object.hasOwn(item, '$elemMatch')).length;
  if (nested > 0 && nested < value.length) throw badValue('no $ expressions in $all');
  return value.map((item) => {
    if (nested > 0) return parseElemMatch(path, (item as Document).$elemMatch);
    if (isOperatorDocument(item)) throw badValue('no $ expressions in $all');
    if (item instanceof BSONRegExp) return regexNode(path, item);
    return comparison(path, 'eq', item);
  });
}

/** A number option of a command, or its default. Throws TypeMismatch for other types, BadValue for fractions. */
export function integerOption(value: unknown, name: string, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const number = numericValue(value);
  if (number === undefined)
    throw typeMismatch(`Field '${name}' must be a number, not ${typeInfo(value).alias}`);
  if (!Number.isInteger(Number(number))) throw badValue(`Field '${name}' must be an integer`);
  return Number(number);
}
