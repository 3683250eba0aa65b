import {
  Binary,
  BSONRegExp,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'bson';
import { expect } from 'chai';
import fc from 'fast-check';
import { compareValues } from '../../../scripts/embedded-mongo/values/bson-order.js';
import { encodeFields, encodeValue } from '../../../scripts/embedded-mongo/values/key-encoding.js';

const text = fc.string({
  unit: fc.constantFrom('a', 'b', '\0', '\u0001', 'é', '\uffee', '\u{1f600}'),
  maxLength: 4,
});
const leaf = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
  fc.constantFrom(Long.fromString('9007199254740992'), Long.fromString('9007199254740993'), 9007199254740992),
  fc
    .tuple(fc.bigInt({ min: -99999n, max: 99999n }), fc.integer({ min: -330, max: 320 }))
    .map(([digits, exponent]) => Decimal128.fromString(`${digits}E${exponent}`)),
  text,
  fc.constantFrom(
    null,
    undefined,
    true,
    false,
    new Date(0),
    new Date(-5),
    new Timestamp({ t: 1, i: 2 }),
    new Timestamp({ t: 2, i: 1 }),
    new Timestamp({ t: 0x80000000, i: 1 }),
    new MinKey(),
    new MaxKey(),
    new ObjectId('000000000000000000000001'),
    new ObjectId('ff0000000000000000000000'),
    new UUID('00000000-0000-4000-8000-000000000000'),
    ...[[0], [255], [1, 2], Array(16).fill(0)].map((bytes) => new Binary(Buffer.from(bytes as number[]))),
    new Binary(Buffer.from([0]), 128),
    ...['', 'a', 'ab'].flatMap((pattern) =>
      ['', 'i', 'im'].map((options) => new BSONRegExp(pattern, options)),
    ),
    -0,
    Number.NaN,
    'x'.repeat(600),
  ),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'aa', 'a b'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

describe('embedded database: keys', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

  it('order as the values do, for all types and in both directions', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const order = Math.sign(compareValues(a, b));
        expect(Math.sign(Buffer.compare(encodeValue(a), encodeValue(b)))).to.equal(order);
        const down = Buffer.compare(encodeFields([a], [true]), encodeFields([b], [true]));
        expect(Math.sign(down)).to.equal(order === 0 ? 0 : -order);
      }),
      { numRuns: 5_000, seed },
    );
  });

  // Not compared with compareValues, which itself compares decimals by their keys.
  it('order numbers of all types exactly', () => {
    const decimal = (text: string) => Decimal128.fromString(text);
    const rising = [
      ...[
        0,
        decimal('1E-6176'),
        decimal('1E-400'),
        decimal('3E-324'),
        5e-324,
        decimal('5E-324'),
        decimal('0.1'),
      ],
      ...[
        decimal('0.1000000000000000055'),
        0.1,
        decimal('0.1000000000000000056'),
        decimal('0.1000000000000001'),
      ],
      ...[new Int32(1), decimal('1.000000000000000000000000000000001'), new Double(1.5)],
      ...[
        decimal('9007199254740991.9'),
        2 ** 53,
        decimal('9007199254740992.05'),
        decimal('9007199254740992.5'),
      ],
      ...[
        Long.fromString('9007199254740993'),
        decimal('9007199254740993.5'),
        Long.fromString('9007199254740994'),
      ],
      ...[Long.MAX_VALUE, decimal('9223372036854775807.5'), new Double(2 ** 63)],
      ...[
        Number.MAX_VALUE,
        decimal('1E310'),
        decimal('2E310'),
        decimal('1E400'),
        decimal('9E6144'),
        Number.POSITIVE_INFINITY,
      ],
    ];
    const falling = rising.slice(1).map((number) => {
      if (number instanceof Decimal128) return decimal(`-${number}`);
      return number instanceof Long ? number.negate() : -number;
    });
    const numbers = [Number.NaN, ...falling.reverse(), ...rising];
    const keys = numbers.map(encodeValue);
    expect([...keys].sort(Buffer.compare).map((key) => String(numbers[keys.indexOf(key)]))).to.deep.equal(
      numbers.map(String),
    );
  });

  it('are the same for equal numbers of all types', () => {
    const same: [unknown, ...unknown[]][] = [
      [0, -0, new Int32(0), Long.ZERO, Decimal128.fromString('-0E+3')],
      [1500, new Int32(1500), new Double(1500), Long.fromNumber(1500), Decimal128.fromString('1.50E3')],
      [0.5, Decimal128.fromString('0.50')],
      [2 ** 60, Long.fromBigInt(2n ** 60n), Decimal128.fromString('1152921504606846976')],
      [Number.NaN, Decimal128.fromString('NaN')],
      [Number.NEGATIVE_INFINITY, Decimal128.fromString('-Infinity')],
    ];
    for (const [first, ...others] of same)
      for (const other of others) expect(encodeValue(other), String(other)).to.deep.equal(encodeValue(first));
  });

  it('order text by its bytes in UTF-8, as comparing does', () => {
    const texts = ['a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'];
    for (const compare of [
      compareValues,
      (a: string, b: string) => Buffer.compare(encodeValue(a), encodeValue(b)),
    ]) {
      const signs = texts.map((a) => texts.map((b) => Math.sign(compare(a, b))));
      expect(signs).to.deep.equal(texts.map((_, i) => texts.map((_, j) => Math.sign(i - j))));
    }
  });

  it('may be of any length', () => {
    const key = encodeValue(Array(100_000).fill(true));
    const item = encodeValue(true);
    const end = Buffer.of(0);
    expect(key.equals(Buffer.concat([key.subarray(0, 1), ...Array(100_000).fill(item), end]))).to.equal(true);
  });

  it('order as tuples when fields are put together', () => {
    const tuple = fc.tuple(value, value);
    fc.assert(
      fc.property(tuple, tuple, fc.boolean(), fc.boolean(), (a, b, first, second) => {
        const direction = (order: number, descending: boolean) => (descending ? -order : order);
        const order =
          direction(compareValues(a[0], b[0]), first) || direction(compareValues(a[1], b[1]), second);
        const keys = Buffer.compare(encodeFields(a, [first, second]), encodeFields(b, [first, second]));
        expect(Math.sign(keys)).to.equal(Math.sign(order) || 0);
      }),
      { numRuns: 3_000, seed },
    );
  });
});
