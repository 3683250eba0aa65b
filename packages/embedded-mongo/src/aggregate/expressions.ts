import { type Document, isDocument, isOperatorDocument, isTruthy, setOwn } from '../values/bson-types.js';
import { compareValues } from '../values/compare.js';
import { CommandError, notServed } from '../values/errors.js';
import { type FieldPath, parsePath } from '../values/field-path.js';

/** A compiled aggregation expression: its value for a document, undefined where it has none ("missing"). */
export type Expression = (document: Document) => unknown;

/**
 * Compiles an aggregation expression: a field path, a constant, a document of expressions, `$cond` or `$gt`. Throws
 * mongod's codes for malformed ones and NotImplemented, by name, for anything else.
 */
export function parseExpression(spec: unknown): Expression {
  if (typeof spec === 'string' && spec.startsWith('$')) return parseFieldPath(spec);
  if (Array.isArray(spec)) throw notServed('an array of expressions');
  if (!isDocument(spec)) return () => spec;
  if (!isOperatorDocument(spec)) return parseObject(spec);
  const [name, ...others] = Object.keys(spec) as [string];
  if (others.length > 0)
    throw new CommandError(15983, `An expression has exactly one operator, not also ${others}`);
  if (name === '$cond') {
    const [condition, yes, no] = operandsOf(name, spec[name], 3) as [Expression, Expression, Expression];
    return (document) => (isTruthy(condition(document)) ? yes(document) : no(document));
  }
  if (name !== '$gt') throw notServed(`the expression ${name}`);
  // Values of any types compare, by BSON order; a missing one is below null.
  const [left, right] = operandsOf(name, spec[name], 2) as [Expression, Expression];
  return (document) => compareValues(left(document), right(document)) > 0;
}

/** Throws 16020 unless there are exactly `count` operands. */
function operandsOf(name: string, operands: unknown, count: number): Expression[] {
  if (!Array.isArray(operands) || operands.length !== count)
    throw new CommandError(16020, `Expression ${name} takes exactly ${count} arguments`);
  return operands.map(parseExpression);
}

function parseObject(spec: Document): Expression {
  const fields = Object.keys(spec).map((key) => [key, parseExpression(spec[key])] as const);
  return (document) => {
    const result: Document = {};
    for (const [key, expression] of fields) {
      const value = expression(document);
      if (value !== undefined) setOwn(result, key, value);
    }
    return result;
  };
}

function parseFieldPath(text: string): Expression {
  if (text.startsWith('$$')) throw notServed(`the variable ${text}`);
  const path = parsePath(text.slice(1));
  return (document) => pathValue(document, path, 0);
}

/**
 * A path in an expression ("Field Paths"): for an array, the values of the documents in it. Numbers are
 * ordinary names here, and nested arrays are not entered.
 */
function pathValue(value: unknown, path: FieldPath, at: number): unknown {
  if (at === path.length) return value;
  if (Array.isArray(value))
    return value
      .filter(isDocument)
      .map((item) => pathValue(item, path, at))
      .filter((found) => found !== undefined);
  const name = path[at] as string;
  return isDocument(value) && Object.hasOwn(value, name) ? pathValue(value[name], path, at + 1) : undefined;
}
