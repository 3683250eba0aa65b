import { type Binary, Decimal128, type ObjectId, type Timestamp } from 'bson';
import { type Document, numericValue, regexParts, TypeOrder, typeOrder } from './bson-types.js';
import { decimalRemainder } from './decimal-key.js';

/** For a double or a timestamp on its way into a key. */
const eight = Buffer.alloc(8);

/**
 * Byte keys whose plain byte order is BSON's order, for index entries and sorting.
 *
 * A value is its type's order number followed by the value: doubles with the sign flipped, strings with every 00
 * byte written as 00 FF and closed by 00 01 (a bare 00 end would order "a" + suffix wrongly against "a\0").
 * Every encoding is self-delimiting, so fields can be concatenated; a descending field has all its bits inverted.
 */
class KeyWriter {
  private buffer = Buffer.allocUnsafe(512);
  private length = 0;

  /** Forgets what was written; the buffer is reused. */
  reset(): this {
    this.length = 0;
    return this;
  }

  /** A copy of what was written. */
  finish(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.length));
  }

  /** Writes one index field. `undefined` is written as undefined's type; callers turn missing into null. */
  field(value: unknown, descending: boolean): this {
    const start = this.length;
    this.value(value);
    if (descending) for (let i = start; i < this.length; i++) this.buffer[i] = ~(this.buffer[i] as number);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.length + bytes));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }

  private byte(byte: number): void {
    this.reserve(1);
    this.buffer[this.length++] = byte;
  }

  private value(value: unknown): void {
    const order = typeOrder(value);
    this.byte(order);
    switch (order) {
      case TypeOrder.number:
        this.number(value);
        return;
      case TypeOrder.string:
        this.string(String(value));
        return;
      case TypeOrder.object:
        this.document(value as Document);
        return;
      case TypeOrder.array:
        for (const item of value as unknown[]) this.value(item);
        this.byte(0);
        return;
      case TypeOrder.binary: {
        const binary = value as Binary;
        const size = Buffer.alloc(4);
        size.writeUInt32BE(binary.length());
        this.bytes(size);
        this.byte(binary.sub_type);
        this.bytes(binary.value());
        return;
      }
      case TypeOrder.objectId:
        this.bytes((value as ObjectId).id);
        return;
      case TypeOrder.boolean:
        this.byte(value ? 1 : 0);
        return;
      case TypeOrder.date:
        this.double((value as Date).getTime());
        return;
      case TypeOrder.timestamp:
        eight.writeBigUInt64BE(BigInt.asUintN(64, (value as Timestamp).toBigInt()));
        this.bytes(eight);
        return;
      case TypeOrder.regex: {
        const { pattern, options } = regexParts(value);
        this.string(pattern);
        this.string(options);
        return;
      }
    }
  }

  /** The nearest double, then what it lacks: nothing for most numbers, digits for large longs and decimals. */
  private number(value: unknown): void {
    const number = value instanceof Decimal128 ? value : (numericValue(value) as number | bigint);
    if (typeof number === 'number') {
      this.double(number);
      this.byte(0x80);
      return;
    }
    const { nearest, remainder } = decimalRemainder(number);
    this.double(nearest);
    this.bytes(remainder);
  }

  private double(value: number): void {
    if (Number.isNaN(value)) {
      eight.fill(0);
    } else {
      eight.writeDoubleBE(value === 0 ? 0 : value);
      const first = eight[0] as number;
      if (first & 0x80) for (let i = 0; i < 8; i++) eight[i] = ~(eight[i] as number);
      else eight[0] = first | 0x80;
    }
    this.bytes(eight);
  }

  private string(text: string): void {
    const bytes = Buffer.from(text);
    if (text.includes('\0')) {
      for (const byte of bytes) {
        this.byte(byte);
        if (byte === 0) this.byte(0xff);
      }
    } else {
      this.bytes(bytes);
    }
    this.byte(0);
    this.byte(1);
  }

  private document(document: Document): void {
    // mongod compares field by field: type, then name, then value; the shorter document comes first.
    for (const key of Object.keys(document)) {
      this.byte(typeOrder(document[key]));
      this.string(key);
      this.value(document[key]);
    }
    this.byte(0);
  }
}

const shared = new KeyWriter();

/** The key of a single ascending value. */
export function encodeValue(value: unknown): Buffer {
  return shared.reset().field(value, false).finish();
}

/** The key of several fields, each with its direction. */
export function encodeFields(values: readonly unknown[], descending: readonly boolean[]): Buffer {
  shared.reset();
  for (let i = 0; i < values.length; i++) shared.field(values[i], descending[i] === true);
  return shared.finish();
}
