import { Double, Long, ObjectId } from 'bson';

/**
 * A second, deliberately slow and simple reading of the manual, written apart from the server's: everything is
 * recursion over plain values, there are no indexes, keys or compiled forms. Property tests compare the two.
 */
export type Value = unknown;
export type Doc = Record<string, Value>;

const isDoc = (value: Value): value is Doc =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function rank(value: Value): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === 'number' || value instanceof Double || value instanceof Long) return 2;
  if (typeof value === 'string') return 3;
  if (isDoc(value)) return 4;
  if (Array.isArray(value)) return 5;
  if (value instanceof ObjectId) return 6;
  if (typeof value === 'boolean') return 7;
  if (value instanceof Date) return 8;
  throw new Error(`the model has no rank for ${String(value)}`);
}

const asNumber = (value: Value): number => (typeof value === 'number' ? value : Number(String(value)));

/** "Comparison/Sort Order" of the manual. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one case per type of the manual’s list
export function compare(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  switch (rank(a)) {
    case 2: {
      const [x, y] = [asNumber(a), asNumber(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
      return x < y ? -1 : x > y ? 1 : 0;
    }
    case 3:
      return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
    case 4: {
      const [x, y] = [Object.entries(a as Doc), Object.entries(b as Doc)];
      for (let i = 0; i < Math.min(x.length, y.length); i++) {
        const [keyA, valueA] = x[i] as [string, Value];
        const [keyB, valueB] = y[i] as [string, Value];
        const order = rank(valueA) - rank(valueB) || compare(keyA, keyB) || compare(valueA, valueB);
        if (order !== 0) return order;
      }
      return x.length - y.length;
    }
    case 5: {
      const [x, y] = [a as Value[], b as Value[]];
      for (let i = 0; i < Math.min(x.length, y.length); i++) {
        const order = compare(x[i], y[i]);
        if (order !== 0) return order;
      }
      return x.length - y.length;
    }
    case 6:
      return compare(String(a), String(b));
    case 7:
      return Number(a) - Number(b);
    case 8:
      return (a as Date).getTime() - (b as Date).getTime();
    default:
      return 0;
  }
}

/** What a path leads to; undefined stands for "no such field here". */
function lookUp(value: Value, path: string[]): Value[] {
  const [part, ...rest] = path;
  if (part === undefined) return [value];
  if (Array.isArray(value)) {
    const inner = value.filter(isDoc).flatMap((item) => lookUp(item, path));
    return /^\d+$/.test(part) && Number(part) < value.length
      ? [...inner, ...lookUp(value[Number(part)], rest)]
      : inner;
  }
  if (!isDoc(value) || !(part in value)) return [undefined];
  return lookUp(value[part], rest);
}

function matchesOperator(operator: string, operand: Value, found: Value[]): boolean {
  const leaves = found.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value]));
  const some = (test: (value: Value) => boolean) => leaves.some(test);
  const bracket = (value: Value) => value !== undefined && rank(value) === rank(operand);
  const isNaNValue = (value: Value) => rank(value) === 2 && Number.isNaN(asNumber(value));
  const ordered = (test: (order: number) => boolean) =>
    some((value) => bracket(value) && !isNaNValue(value) && test(compare(value, operand)));
  switch (operator) {
    case '$eq':
      return some((value) =>
        operand === null
          ? value === null || value === undefined
          : value !== undefined && compare(value, operand) === 0,
      );
    case '$ne':
      return !matchesOperator('$eq', operand, found);
    case '$gt':
      return ordered((order) => order > 0);
    case '$gte':
      return ordered((order) => order >= 0);
    case '$lt':
      return ordered((order) => order < 0);
    case '$lte':
      return ordered((order) => order <= 0);
    case '$in':
      return (operand as Value[]).some((item) => matchesOperator('$eq', item, found));
    case '$nin':
      return !matchesOperator('$in', operand, found);
    case '$exists':
      return found.some((value) => value !== undefined) === operand;
    case '$regex':
      return some((value) => typeof value === 'string' && new RegExp(operand as string, 'u').test(value));
    default:
      throw new Error(`the model has no ${operator}`);
  }
}

const isOperators = (value: Value): value is Doc =>
  isDoc(value) && Object.keys(value)[0]?.startsWith('$') === true;

export function matches(document: Doc, filter: Doc): boolean {
  return Object.entries(filter).every(([key, value]) => {
    const list = value as Doc[];
    if (key === '$and') return list.every((item) => matches(document, item));
    if (key === '$or') return list.some((item) => matches(document, item));
    const found = lookUp(document, key.split('.'));
    if (!isOperators(value)) return matchesOperator('$eq', value, found);
    return Object.entries(value).every(([operator, operand]) => matchesOperator(operator, operand, found));
  });
}

/** What `distinct` gives: each value, and each element of an array, once. */
export function distinctValues(documents: Doc[], path: string): Value[] {
  const values: Value[] = [];
  for (const value of documents.flatMap((one) => lookUp(one, path.split('.'))))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined && !values.some((other) => compare(other, item) === 0)) values.push(item);
  return values;
}

/** The value a document is sorted by in one field: null where there is none. */
function sortValue(value: Value, path: string[]): Value {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  return isDoc(value) && part in value ? sortValue(value[part], rest) : null;
}

export function inOrder(a: Doc, b: Doc, sort: Doc): number {
  for (const [path, direction] of Object.entries(sort)) {
    const descending = direction === -1;
    const order = compare(sortValue(a, path.split('.')), sortValue(b, path.split('.')));
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}
