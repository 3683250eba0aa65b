import { compareValues } from '../values/bson-order.js';
import { type Document, isDocument, isTruthy, setOwn } from '../values/bson-types.js';
import { CommandError, notServed } from '../values/errors.js';
import type { FieldPath } from '../values/field-path.js';

/** A compiled aggregation expression: its value for a document, undefined where it has none ("missing"). */
export type Expression = (document: Document) => unknown;

/**
 * Compiles an aggregation expression: field paths, `$$ROOT`, constants, documents and arrays of expressions, and the
 * operators of OPERATORS. Throws mongod's codes for malformed ones and NotImplemented, by name, for anything else.
 */
export function parseExpression(spec: unknown): Expression {
  if (typeof spec === 'string') return spec.startsWith('$') ? parseFieldPath(spec) : () => spec;
  if (Array.isArray(spec)) {
    const items = spec.map(parseExpression);
    return (document) => items.map((item) => item(document) ?? null);
  }
  if (!isDocument(spec)) return () => spec;
  const keys = Object.keys(spec);
  const name = keys.find((key) => key.startsWith('$'));
  if (name === undefined) return parseObject(spec);
  if (keys.length > 1)
    throw new CommandError(
      15983,
      `An object representing an expression must have exactly one field: ${keys.join(', ')}`,
    );
  const parse = OPERATORS.get(name);
  if (!parse) throw notServed(`the expression ${name}`);
  return parse(spec[name], name);
}

function parseObject(spec: Document): Expression {
  const fields = Object.keys(spec).map((key) => {
    if (key.includes('.'))
      throw new CommandError(16412, `FieldPath field names may not contain '.': '${key}'`);
    return [key, parseExpression(spec[key])] as const;
  });
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
  if (text === '$') throw new CommandError(16872, "'$' by itself is not a valid FieldPath");
  const isVariable = text.startsWith('$$');
  const parts = text.slice(isVariable ? 2 : 1).split('.');
  const variable = isVariable ? parts.shift() : 'ROOT';
  if (variable !== 'ROOT') throw notServed(`the variable $$${variable}`);
  for (const part of parts) {
    if (part === '') throw new CommandError(15998, 'FieldPath field names may not be empty strings.');
    if (part.startsWith('$'))
      throw new CommandError(16410, `FieldPath field names may not start with '$': '${text}'`);
  }
  return (document) => pathValue(document, parts, 0);
}

/**
 * A path as expressions read it ("Field Paths"): of an array, the values of the documents in it. A number is a name
 * like any other here, and an array inside an array is not entered.
 */
function pathValue(value: unknown, path: FieldPath, at: number): unknown {
  if (at === path.length) return value;
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const found = isDocument(item) ? pathValue(item, path, at) : undefined;
      return found === undefined ? [] : [found];
    });
  const name = path[at] as string;
  return isDocument(value) && Object.hasOwn(value, name) ? pathValue(value[name], path, at + 1) : undefined;
}

type ParseOperator = (operand: unknown, name: string) => Expression;

/** What is served; each has its probes in semantics-aggregation.test.ts. */
const OPERATORS: ReadonlyMap<string, ParseOperator> = new Map<string, ParseOperator>([
  ['$literal', (operand) => () => operand],
  ['$eq', comparison((order) => order === 0)],
  ['$ne', comparison((order) => order !== 0)],
  ['$gt', comparison((order) => order > 0)],
  ['$gte', comparison((order) => order >= 0)],
  ['$lt', comparison((order) => order < 0)],
  ['$lte', comparison((order) => order <= 0)],
  ['$and', parseAnd],
  ['$or', parseOr],
  ['$not', parseNot],
  ['$cond', parseCond],
  ['$ifNull', parseIfNull],
]);

/** The operands of an operator; a single one needs no array around it. */
function operandsOf(operand: unknown): Expression[] {
  return (Array.isArray(operand) ? operand : [operand]).map(parseExpression);
}

/** Throws 16020 unless there are exactly `count` operands. */
function exactly(count: number, operand: unknown, name: string): Expression[] {
  const operands = operandsOf(operand);
  if (operands.length !== count)
    throw new CommandError(
      16020,
      `Expression ${name} takes exactly ${count} arguments. ${operands.length} were passed in.`,
    );
  return operands;
}

/** Values of any types compare, by BSON order; a missing one is below null. */
function comparison(holds: (order: number) => boolean): ParseOperator {
  return (operand, name) => {
    const [left, right] = exactly(2, operand, name) as [Expression, Expression];
    return (document) => holds(compareValues(left(document), right(document)));
  };
}

function parseAnd(operand: unknown): Expression {
  const operands = operandsOf(operand);
  return (document) => operands.every((item) => isTruthy(item(document)));
}

function parseOr(operand: unknown): Expression {
  const operands = operandsOf(operand);
  return (document) => operands.some((item) => isTruthy(item(document)));
}

function parseNot(operand: unknown, name: string): Expression {
  const [only] = exactly(1, operand, name) as [Expression];
  return (document) => !isTruthy(only(document));
}

function parseCond(operand: unknown, name: string): Expression {
  const [condition, yes, no] = exactly(3, isDocument(operand) ? condParts(operand) : operand, name) as [
    Expression,
    Expression,
    Expression,
  ];
  return (document) => (isTruthy(condition(document)) ? yes(document) : no(document));
}

function condParts(operand: Document): unknown[] {
  const parts = ['if', 'then', 'else'];
  for (const key of Object.keys(operand))
    if (!parts.includes(key)) throw new CommandError(17083, `Unrecognized parameter to $cond: ${key}`);
  return parts.map((part, i) => {
    if (!Object.hasOwn(operand, part))
      throw new CommandError(17080 + i, `Missing '${part}' parameter to $cond`);
    return operand[part];
  });
}

function parseIfNull(operand: unknown): Expression {
  const operands = operandsOf(operand);
  if (operands.length < 2)
    throw new CommandError(1257300, `$ifNull needs at least two arguments, had: ${operands.length}`);
  return (document) => {
    let value: unknown;
    for (const item of operands) {
      value = item(document);
      if (value !== undefined && value !== null) return value;
    }
    return value;
  };
}
