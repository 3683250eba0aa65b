import { Binary, Double, deserialize, Int32, Long, ObjectId, serialize, UUID } from 'bson';
import { CommandError, notServed } from './errors.js';

/** A decoded document: own properties only, in the order of the wire. */
export type Document = Record<string, unknown>;

/** mongod's limits: bytes of a document and of a message, nesting levels. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
export const MAX_MESSAGE_BYTES = 48_000_000;
const MAX_NESTING = 180;

/**
 * The supported types, in the order of mongod's `canonicalizeBSONType` (src/mongo/bson/bsontypes.h). The
 * numbers are stored in index keys.
 */
export const TypeOrder = {
  missing: 4,
  null: 5,
  number: 10,
  string: 15,
  object: 20,
  array: 25,
  binary: 30,
  objectId: 35,
  boolean: 40,
  date: 45,
} as const;

const ORDER_BY_TYPEOF: Readonly<Record<string, number>> = {
  undefined: TypeOrder.missing,
  string: TypeOrder.string,
  number: TypeOrder.number,
  boolean: TypeOrder.boolean,
};

const ORDER_BY_PROTOTYPE = new Map<unknown, number>([
  [Object.prototype, TypeOrder.object],
  [Array.prototype, TypeOrder.array],
  [Int32.prototype, TypeOrder.number],
  [Long.prototype, TypeOrder.number],
  [Double.prototype, TypeOrder.number],
  [Binary.prototype, TypeOrder.binary],
  [UUID.prototype, TypeOrder.binary],
  [ObjectId.prototype, TypeOrder.objectId],
  [Date.prototype, TypeOrder.date],
]);

/**
 * The place of a value's type in the order of types; a missing value is undefined. Decided by prototype, never by a
 * `_bsontype` field, which a client may put into any document. Throws NotImplemented (238) for other types.
 */
export function typeOrder(value: unknown): number {
  if (value === null) return TypeOrder.null;
  const order = ORDER_BY_TYPEOF[typeof value] ?? ORDER_BY_PROTOTYPE.get(Object.getPrototypeOf(value));
  if (order === undefined) throw notServed(`a ${(value as object).constructor.name} value`);
  return order;
}

/** The name of a value's type, for error messages. */
export function typeName(value: unknown): string {
  const order = typeOrder(value);
  return Object.entries(TypeOrder).find(([, other]) => other === order)?.[0] as string;
}

/** Whether a value is an embedded document (not an array, not a BSON scalar). */
export function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Whether an object's first field is an operator. */
export function isOperatorDocument(value: unknown): value is Document {
  return isDocument(value) && Object.keys(value)[0]?.startsWith('$') === true;
}

/** Whether a value is null or missing: `{field: null}` matches both. */
export const isNullish = (value: unknown): value is null | undefined => value === null || value === undefined;

/** The number of a numeric value, undefined for other types. Throws NotImplemented for a long beyond 2^53. */
export function numericValue(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Int32 || value instanceof Double) return value.value;
  if (!(value instanceof Long)) return undefined;
  const number = value.toNumber();
  if (!Number.isSafeInteger(number)) throw notServed('an integer beyond 2^53');
  return number;
}

/** The sum of numeric values, in the widest of their types; an int32 that overflows is a long. */
export class Sum {
  #total = 0;
  #hasLong = false;
  #hasDouble = false;

  add(number: unknown): this {
    this.#total += numericValue(number) as number;
    this.#hasLong ||= number instanceof Long;
    this.#hasDouble ||= number instanceof Double;
    return this;
  }

  result(): Int32 | Long | Double {
    const total = this.#total;
    if (this.#hasDouble) return new Double(total);
    if (!Number.isSafeInteger(total)) throw notServed('an integer beyond 2^53');
    return this.#hasLong || (total | 0) !== total ? Long.fromNumber(total) : new Int32(total);
  }
}

/** Truth in expressions and options: all but missing, null, false and 0. */
export const isTruthy = (value: unknown) => !isNullish(value) && value !== false && numericValue(value) !== 0;

/** Sets an own property. `__proto__` would reach the prototype by plain assignment, so it is defined instead. */
export function setOwn(document: Document, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(document, key, { value, enumerable: true, configurable: true, writable: true });
  else document[key] = value;
}

const EXACT = { promoteValues: false, bsonRegExp: true } as const;

/** Decodes BSON with int32, double and long as distinct types. Throws BSONError for malformed bytes. */
export const decode = (bytes: Uint8Array): Document => deserialize(bytes, EXACT);

/** Encodes a document; undefined members become null inside arrays and are left out elsewhere, as in drivers. */
export function encode(document: Document): Buffer {
  const bytes = serialize(document);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Throws Overflow (15) for nesting above the limit, NotImplemented (238) for unsupported types and numbers. */
export function checkStorable(value: unknown, depth = 0): void {
  if (depth > MAX_NESTING)
    throw new CommandError(15, `Document exceeds maximum nested object depth of ${MAX_NESTING}`);
  if (value === undefined) throw notServed('an undefined value');
  if (Array.isArray(value)) for (const item of value) checkStorable(item, depth + 1);
  else if (isDocument(value)) for (const key of Object.keys(value)) checkStorable(value[key], depth + 1);
  else if (typeOrder(value) === TypeOrder.number) numericValue(value);
}
