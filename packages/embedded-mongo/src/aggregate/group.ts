import {
  type Document,
  isDocument,
  isOperatorDocument,
  numericValue,
  Sum,
  setOwn,
} from '../values/bson-types.js';
import { CommandError, notServed } from '../values/errors.js';
import { keyText } from '../values/key-encoding.js';
import { type Expression, parseExpression } from './expressions.js';

/** Collects a field's values in a group; a missing value is undefined. */
interface Accumulator {
  add(value: unknown): void;
  result(): unknown;
}

function sum(): Accumulator {
  const numbers = new Sum();
  return {
    add(value) {
      if (numericValue(value) !== undefined) numbers.add(value);
    },
    result: () => numbers.result(),
  };
}

function push(): Accumulator {
  const values: unknown[] = [];
  return {
    add(value) {
      if (value !== undefined) values.push(value);
    },
    result: () => values,
  };
}

/** The supported accumulators; each has its probes in semantics-group.test.ts. */
const ACCUMULATORS: ReadonlyMap<string, () => Accumulator> = new Map([
  ['$sum', sum],
  ['$push', push],
]);

interface Field {
  name: string;
  create: () => Accumulator;
  expression: Expression;
}

/** Compiles a $group stage. Groups are in the order of their first documents. */
export function parseGroup(spec: unknown): (input: Iterable<Document>) => Generator<Document> {
  if (!isDocument(spec)) throw new CommandError(15947, "a group's fields must be specified in an object");
  const { _id: key, ...others } = spec;
  if (key === undefined) throw new CommandError(15955, 'a group specification must include an _id');
  const groupKey = parseKey(key);
  const fields = Object.keys(others).map((name) => parseField(name, others[name]));
  return function* group(input) {
    const groups = new Map<string, { id: unknown; accumulators: Accumulator[] }>();
    for (const document of input) {
      const id = groupKey(document);
      const text = keyText(id);
      const group = groups.get(text) ?? { id, accumulators: fields.map(({ create }) => create()) };
      groups.set(text, group);
      for (const [i, { expression }] of fields.entries()) group.accumulators[i]?.add(expression(document));
    }
    for (const { id, accumulators } of groups.values()) {
      const result: Document = { _id: id };
      for (const [i, { name }] of fields.entries()) setOwn(result, name, accumulators[i]?.result());
      yield result;
    }
  };
}

/** A missing key is null, as is the missing value of a key document's only field; one of several stays missing. */
function parseKey(spec: unknown): Expression {
  const expression = parseExpression(spec);
  const [only, ...others] = isDocument(spec) && !isOperatorDocument(spec) ? Object.keys(spec) : [];
  if (only === undefined || others.length > 0) return (document) => expression(document) ?? null;
  return (document) => {
    const key = expression(document) as Document;
    if (!Object.hasOwn(key, only)) setOwn(key, only, null);
    return key;
  };
}

function parseField(name: string, spec: unknown): Field {
  if (/^\$|\./.test(name))
    throw new CommandError(40235, `The field name '${name}' cannot contain '.' or begin with '$'`);
  const accumulator = isDocument(spec) ? spec : {};
  const [operator, ...others] = Object.keys(accumulator);
  if (operator === undefined || others.length > 0)
    throw new CommandError(40234, `The field '${name}' must be an accumulator object`);
  const create = ACCUMULATORS.get(operator);
  if (!create) throw notServed(`the accumulator ${operator}`);
  return { name, create, expression: parseExpression(accumulator[operator]) };
}
