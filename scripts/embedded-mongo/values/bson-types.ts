import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  deserialize,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
  UUID,
} from 'bson';
import { badValue, CommandError, notServed } from './errors.js';

/** A decoded document: own properties only, in the order of the wire. */
export type Document = Record<string, unknown>;

/** mongod's limits: one document, nesting levels. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
const MAX_NESTING = 180;

/** Canonical order of BSON types, as mongod's `canonicalizeBSONType` (src/mongo/bson/bsontypes.h). */
export const TypeOrder = {
  minKey: 2,
  undefined: 4,
  null: 5,
  number: 10,
  string: 15,
  object: 20,
  array: 25,
  binary: 30,
  objectId: 35,
  boolean: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  maxKey: 127,
} as const;

interface TypeInfo {
  order: number;
  /** Number and alias of the type as $type takes them. */
  number: number;
  alias: string;
}

const INFO_BY_PROTOTYPE = new Map<unknown, TypeInfo>([
  [Object.prototype, { order: TypeOrder.object, number: 3, alias: 'object' }],
  [Array.prototype, { order: TypeOrder.array, number: 4, alias: 'array' }],
  [Int32.prototype, { order: TypeOrder.number, number: 16, alias: 'int' }],
  [Long.prototype, { order: TypeOrder.number, number: 18, alias: 'long' }],
  [Double.prototype, { order: TypeOrder.number, number: 1, alias: 'double' }],
  [Decimal128.prototype, { order: TypeOrder.number, number: 19, alias: 'decimal' }],
  [BSONSymbol.prototype, { order: TypeOrder.string, number: 14, alias: 'symbol' }],
  [Binary.prototype, { order: TypeOrder.binary, number: 5, alias: 'binData' }],
  [UUID.prototype, { order: TypeOrder.binary, number: 5, alias: 'binData' }],
  [ObjectId.prototype, { order: TypeOrder.objectId, number: 7, alias: 'objectId' }],
  [Date.prototype, { order: TypeOrder.date, number: 9, alias: 'date' }],
  [Timestamp.prototype, { order: TypeOrder.timestamp, number: 17, alias: 'timestamp' }],
  [BSONRegExp.prototype, { order: TypeOrder.regex, number: 11, alias: 'regex' }],
  [RegExp.prototype, { order: TypeOrder.regex, number: 11, alias: 'regex' }],
  [MinKey.prototype, { order: TypeOrder.minKey, number: -1, alias: 'minKey' }],
  [MaxKey.prototype, { order: TypeOrder.maxKey, number: 127, alias: 'maxKey' }],
]);

const STRING: TypeInfo = { order: TypeOrder.string, number: 2, alias: 'string' };
const BOOLEAN: TypeInfo = { order: TypeOrder.boolean, number: 8, alias: 'bool' };
const NULL: TypeInfo = { order: TypeOrder.null, number: 10, alias: 'null' };
const UNDEFINED: TypeInfo = { order: TypeOrder.undefined, number: 6, alias: 'undefined' };
const INT: TypeInfo = { order: TypeOrder.number, number: 16, alias: 'int' };

/** Alias to number for $type; `number` stands for all four numeric types and is handled by the caller. */
export const TYPE_ALIASES: ReadonlyMap<string, number> = new Map(
  [...INFO_BY_PROTOTYPE.values(), STRING, BOOLEAN, NULL, UNDEFINED].map((info) => [info.alias, info.number]),
);

/**
 * What BSON type a decoded value has. Decided by prototype, never by a `_bsontype` field, which a client may
 * put into any document.
 */
export function typeInfo(value: unknown): TypeInfo {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'boolean':
      return BOOLEAN;
    case 'undefined':
      return UNDEFINED;
    case 'number':
      // Decoded numbers are objects; what is left are counts.
      return INT;
    default: {
      if (value === null) return NULL;
      const info = INFO_BY_PROTOTYPE.get(Object.getPrototypeOf(value));
      if (info) return info;
      throw badValue('unsupported BSON type');
    }
  }
}

/** Canonical order number of a value's type. */
export function typeOrder(value: unknown): number {
  return typeInfo(value).order;
}

/** Whether a value is an embedded document (not an array, not a BSON scalar). */
export function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Pattern and options of a regular expression value. */
export function regexParts(value: unknown): { pattern: string; options: string } {
  if (value instanceof RegExp) return { pattern: value.source, options: value.flags };
  return value as BSONRegExp;
}

/** A numeric BSON value as number (or bigint beyond 2^53); undefined for Decimal128 and everything else. */
export function numericValue(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Int32 || value instanceof Double) return value.value;
  if (value instanceof Long) {
    const number = value.toNumber();
    return Number.isSafeInteger(number) ? number : value.toBigInt();
  }
  return undefined;
}

/** Truth as mongod's BSONElement::trueValue: everything but false, null, undefined and numeric zero. */
export function isTruthy(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  if (value instanceof Decimal128) return Number(value.toString()) !== 0;
  const number = numericValue(value);
  return number === undefined || Number(number) !== 0;
}

/** Sets an own property. `__proto__` would reach the prototype by plain assignment, so it is defined instead. */
export function setOwn(document: Document, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(document, key, { value, enumerable: true, configurable: true, writable: true });
  else document[key] = value;
}

/** A copy whose containers are its own: one operand may be written into many documents. */
export function structuredCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCopy);
  if (!isDocument(value)) return value;
  const copy: Document = {};
  for (const key of Object.keys(value)) setOwn(copy, key, structuredCopy(value[key]));
  return copy;
}

const EXACT = { promoteValues: false, bsonRegExp: true } as const;

/** Decodes BSON keeping int32, double and long apart. Throws BSONError on garbage. */
export function decode(bytes: Uint8Array): Document {
  return deserialize(bytes, EXACT);
}

/** Encodes a document; undefined members become null inside arrays and are left out elsewhere, as in drivers. */
export function encode(document: Document): Buffer {
  const bytes = serialize(document);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Throws Overflow (15) for nesting above the limit, NotImplemented for types that are not served. Stack-safe, since depth
 * is what an attacker chooses.
 */
export function checkStorable(value: unknown, depth = 0): void {
  if (depth > MAX_NESTING)
    throw new CommandError(15, `Document exceeds maximum nested object depth of ${MAX_NESTING}`);
  if (value instanceof Code || value instanceof DBRef) throw notServed(`a ${value._bsontype} value`);
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') checkStorable(item, depth + 1);
  } else if (isDocument(value)) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (typeof item === 'object') checkStorable(item, depth + 1);
    }
  }
}
