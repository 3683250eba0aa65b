import type { Binary, ObjectId } from 'bson';
import { type Document, numericValue, TypeOrder, typeOrder } from './bson-types.js';

/** Scratch space for encoding a double. */
const eight = Buffer.alloc(8);

/**
 * Writes keys whose byte order is BSON's order, for index entries, sorting and comparing.
 *
 * A value is the number of its type followed by the value: doubles with the sign flipped, strings with every
 * 00 byte written as 00 FF and terminated by 00 01 (with 00 alone, "a" + suffix would be ordered wrongly
 * against "a\0"). Every encoding is self-delimiting, so fields can be concatenated; a descending field has
 * all its bits inverted.
 */
class KeyWriter {
  #buffer = Buffer.allocUnsafe(512);
  #length = 0;

  /** The key of several fields, each with its direction. */
  encode(values: readonly unknown[], descending: readonly boolean[]): Buffer {
    this.#length = 0;
    for (let i = 0; i < values.length; i++) {
      const start = this.#length;
      this.#value(values[i]);
      if (descending[i])
        for (let at = start; at < this.#length; at++) this.#buffer[at] = ~(this.#buffer[at] as number);
    }
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = byte;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#length + bytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  #value(value: unknown): void {
    const order = typeOrder(value);
    this.#byte(order);
    switch (order) {
      case TypeOrder.number:
        this.#double(numericValue(value) as number);
        // Reserved for digits that a double lacks.
        this.#byte(0x80);
        break;
      case TypeOrder.string:
        this.#string(value as string);
        break;
      case TypeOrder.object:
        this.#document(value as Document);
        break;
      case TypeOrder.array:
        for (const item of value as unknown[]) this.#value(item);
        this.#byte(0);
        break;
      case TypeOrder.binary:
        this.#binary(value as Binary);
        break;
      case TypeOrder.objectId:
        this.#bytes((value as ObjectId).id);
        break;
      case TypeOrder.boolean:
        this.#byte(value ? 1 : 0);
        break;
      case TypeOrder.date:
        this.#double((value as Date).getTime());
        break;
    }
  }

  #double(value: number): void {
    if (Number.isNaN(value)) {
      eight.fill(0);
    } else {
      eight.writeDoubleBE(value === 0 ? 0 : value);
      const first = eight[0] as number;
      if (first & 0x80) for (let i = 0; i < 8; i++) eight[i] = ~(eight[i] as number);
      else eight[0] = first | 0x80;
    }
    this.#bytes(eight);
  }

  #string(text: string): void {
    const bytes = Buffer.from(text);
    if (text.includes('\0')) {
      for (const byte of bytes) {
        this.#byte(byte);
        if (byte === 0) this.#byte(0xff);
      }
    } else {
      this.#bytes(bytes);
    }
    this.#byte(0);
    this.#byte(1);
  }

  #binary(binary: Binary): void {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(binary.length());
    this.#bytes(size);
    this.#byte(binary.sub_type);
    this.#bytes(binary.value());
  }

  /** mongod compares field by field: type, then name, then value; the shorter document comes first. */
  #document(document: Document): void {
    for (const key of Object.keys(document)) {
      this.#byte(typeOrder(document[key]));
      this.#string(key);
      this.#value(document[key]);
    }
    this.#byte(0);
  }
}

const writer = new KeyWriter();

/** The key of a single ascending value. */
export function encodeValue(value: unknown): Buffer {
  return writer.encode([value], []);
}

/** The same key as text, for maps and sets: equal for values that are equal in MongoDB's sense, and for no others. */
export function keyText(value: unknown): string {
  return encodeValue(value).toString('latin1');
}

/** The key of several values, each with its direction. */
export function encodeFields(values: readonly unknown[], descending: readonly boolean[]): Buffer {
  return writer.encode(values, descending);
}
