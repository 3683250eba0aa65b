import { Decimal128, Double, Int32, Long } from 'bson';
import { compareValues } from '../values/bson-order.js';
import { type Document, isDocument, numericValue, setOwn } from '../values/bson-types.js';
import { CommandError, notServed } from '../values/errors.js';
import { encodeValue } from '../values/key-encoding.js';
import { type Expression, parseExpression } from './expressions.js';

/** Collects one output field of one group. A missing value is undefined. */
interface Accumulator {
  add(value: unknown): void;
  result(): unknown;
}

/** Sums numbers as mongod does: integers exactly, doubles compensated (src/mongo/util/summation.h). */
class Sum implements Accumulator {
  count = 0;
  /** Integers while they are small; what a number cannot hold exactly moves to `large`. */
  private small = 0;
  private large = 0n;
  private hasLong = false;
  private hasDouble = false;
  /** The sum of the doubles as the nearest double and what that lacks. */
  private nearest = 0;
  private rest = 0;
  /** A plain sum, for infinities: compensation makes NaN of them. */
  private plain = 0;

  add(value: unknown): void {
    if (value instanceof Decimal128) throw notServed('Decimal128 arithmetic');
    const number = numericValue(value);
    if (number === undefined) return;
    this.count++;
    if (value instanceof Double) this.addDouble(value.value);
    else this.addInteger(number, value instanceof Long);
  }

  /** The sum in the widest type of its operands; an int that overflows is a long, a long a double. */
  result(): unknown {
    if (this.hasDouble) return new Double(this.toDouble());
    const total = this.large + BigInt(this.small);
    if (BigInt.asIntN(64, total) !== total) return new Double(Number(total));
    return this.hasLong || BigInt.asIntN(32, total) !== total
      ? Long.fromBigInt(total)
      : new Int32(Number(total));
  }

  /** The double nearest to the sum. */
  toDouble(): number {
    const total = this.large + BigInt(this.small);
    // In two steps, each exact, as long as the total is below 2^106.
    const high = Number(total);
    this.addDouble(high);
    if (Number.isFinite(high)) this.addDouble(Number(total - BigInt(high)));
    this.small = 0;
    this.large = 0n;
    return Number.isNaN(this.nearest) ? this.plain : this.nearest;
  }

  private addInteger(number: number | bigint, isLong: boolean): void {
    this.hasLong ||= isLong;
    if (typeof number === 'number' && Number.isSafeInteger(this.small + number)) this.small += number;
    else this.large += BigInt(number);
  }

  private addDouble(value: number): void {
    this.hasDouble = true;
    this.plain += value;
    const [lower, lost] = twoSum(value, this.rest);
    const [nearest, left] = twoSum(this.nearest, lower);
    this.nearest = nearest;
    this.rest = lost + left;
  }
}

/** The double nearest to a + b, and what it lacks of the exact sum (Knuth). */
function twoSum(a: number, b: number): [sum: number, lost: number] {
  const sum = a + b;
  const fromB = sum - a;
  return [sum, a - (sum - fromB) + (b - fromB)];
}

function average(): Accumulator {
  const sum = new Sum();
  return {
    add: (value) => sum.add(value),
    result: () => (sum.count === 0 ? null : new Double(sum.toDouble() / sum.count)),
  };
}

/** The smallest (sign 1) or largest (sign -1) value by BSON order, null and missing aside. */
function extreme(sign: 1 | -1): Accumulator {
  let found: unknown = null;
  return {
    add(value) {
      if (value === undefined || value === null) return;
      if (found === null || sign * compareValues(value, found) < 0) found = value;
    },
    result: () => found,
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

function addToSet(): Accumulator {
  const values = new Map<string, unknown>();
  return {
    add(value) {
      if (value === undefined) return;
      const key = keyOf(value);
      if (!values.has(key)) values.set(key, value);
    },
    result: () => [...values.values()],
  };
}

/** What is served; each has its probes in semantics-aggregation.test.ts. */
const ACCUMULATORS: ReadonlyMap<string, () => Accumulator> = new Map<string, () => Accumulator>([
  ['$sum', () => new Sum()],
  ['$avg', average],
  ['$min', () => extreme(1)],
  ['$max', () => extreme(-1)],
  ['$push', push],
  ['$addToSet', addToSet],
]);

/** Equal for values that are equal in MongoDB's sense, and for no others. */
function keyOf(value: unknown): string {
  return encodeValue(value).toString('latin1');
}

interface Field {
  name: string;
  create: () => Accumulator;
  expression: Expression;
}

/** Compiles a $group stage. Its groups come in the order of their first documents. */
export function parseGroup(spec: unknown): (input: Iterable<Document>) => Generator<Document> {
  if (!isDocument(spec)) throw new CommandError(15947, "a group's fields must be specified in an object");
  if (!Object.hasOwn(spec, '_id')) throw new CommandError(15955, 'a group specification must include an _id');
  const groupKey = parseGroupKey(spec._id);
  const fields = Object.keys(spec)
    .filter((name) => name !== '_id')
    .map((name) => parseField(name, spec[name]));
  return function* group(input) {
    const groups = new Map<string, { id: unknown; accumulators: Accumulator[] }>();
    for (const document of input) {
      const id = groupKey(document);
      const key = keyOf(id);
      let found = groups.get(key);
      if (!found) {
        found = { id, accumulators: fields.map((field) => field.create()) };
        groups.set(key, found);
      }
      for (const [i, field] of fields.entries()) found.accumulators[i]?.add(field.expression(document));
    }
    for (const { id, accumulators } of groups.values()) {
      const result: Document = { _id: id };
      for (const [i, field] of fields.entries()) setOwn(result, field.name, accumulators[i]?.result());
      yield result;
    }
  };
}

/** A missing key is null, as is the missing value of a key document's only field; one of several stays missing. */
function parseGroupKey(spec: unknown): Expression {
  const expression = parseExpression(spec);
  const [only, ...others] = isDocument(spec) ? Object.keys(spec) : [];
  if (only === undefined || others.length > 0 || only.startsWith('$'))
    return (document) => expression(document) ?? null;
  return (document) => {
    const key = expression(document) as Document;
    if (!Object.hasOwn(key, only)) setOwn(key, only, null);
    return key;
  };
}

function parseField(name: string, spec: unknown): Field {
  if (name.includes('.')) throw new CommandError(40235, `The field name '${name}' cannot contain '.'`);
  if (name.startsWith('$'))
    throw new CommandError(40236, `The field name '${name}' cannot be an operator name`);
  const keys = isDocument(spec) ? Object.keys(spec) : [];
  const [operator] = keys;
  if (!isDocument(spec) || operator === undefined || !operator.startsWith('$'))
    throw new CommandError(40234, `The field '${name}' must be an accumulator object`);
  if (keys.length > 1) throw new CommandError(40238, `The field '${name}' must specify one accumulator`);
  const create = ACCUMULATORS.get(operator);
  if (!create) throw notServed(`the accumulator ${operator}`);
  if (Array.isArray(spec[operator]))
    throw new CommandError(40237, `The ${operator} accumulator is a unary operator`);
  return { name, create, expression: parseExpression(spec[operator]) };
}
