import { Binary, Double, Int32, Long, ObjectId, UUID } from 'bson';
import { expect } from 'chai';
import fc from 'fast-check';
import { compareValues, equalValues } from '../../src/values/compare.js';
import { encodeFields, encodeValue, keyText } from '../../src/values/key-encoding.js';

const text = fc.string({
  unit: fc.constantFrom('a', 'b', '\0', '\u0001', 'é', '\uffee', '\u{1f600}'),
  maxLength: 4,
});
const leaf = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger().map((value) => Long.fromNumber(value)),
  text,
  fc.constantFrom(
    null,
    undefined,
    true,
    false,
    new Date(0),
    new Date(-5),
    new ObjectId('000000000000000000000001'),
    new ObjectId('ff0000000000000000000000'),
    new UUID('00000000-0000-4000-8000-000000000000'),
    ...[[0], [255], [1, 2], Array(16).fill(0)].map((bytes) => new Binary(Buffer.from(bytes as number[]))),
    new Binary(Buffer.from([0]), 128),
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
        expect(equalValues(a, b)).to.equal(order === 0);
        const down = Buffer.compare(encodeFields([a], [true]), encodeFields([b], [true]));
        expect(Math.sign(down)).to.equal(order === 0 ? 0 : -order);
      }),
      { numRuns: 5_000, seed },
    );
  });

  it('order numbers of all types, NaN first', () => {
    const above = [0, 5e-324, 0.1, new Int32(1), new Double(1.5), 2 ** 53 - 1, new Double(2 ** 63)];
    const rising = [...above, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
    const falling = rising.slice(1).map((number) => -Number(number));
    const numbers = [Number.NaN, ...falling.reverse(), ...rising];
    for (const compare of [
      compareValues,
      (a: unknown, b: unknown) => Buffer.compare(encodeValue(a), encodeValue(b)),
    ])
      for (const [i, a] of numbers.entries())
        for (const [j, b] of numbers.entries())
          expect(Math.sign(compare(a, b)), `${a} and ${b}`).to.equal(Math.sign(i - j));
  });

  it('are the same for equal numbers of all types', () => {
    const same: [unknown, ...unknown[]][] = [
      [0, -0, new Int32(0), Long.ZERO],
      [1500, new Int32(1500), new Double(1500), Long.fromNumber(1500)],
    ];
    for (const [first, ...others] of same)
      for (const other of others) {
        expect(encodeValue(other), String(other)).to.deep.equal(encodeValue(first));
        expect(keyText(other)).to.equal(keyText(first));
        expect(equalValues(first, other)).to.equal(true);
      }
  });

  it('have the bytes of data format 1', () => {
    const written: [value: unknown, hex: string][] = [
      [undefined, '04'],
      [null, '05'],
      [1, '0abff000000000000080'],
      [-1, '0a400fffffffffffff80'],
      [Number.NaN, '0a000000000000000080'],
      ['a\0é', '0f6100ffc3a90001'],
      [{ a: true }, '1428610001280100'],
      [[null, 'a'], '19050f61000100'],
      [new Binary(Buffer.from([7, 8]), 128), '1e00000002800708'],
      [new ObjectId('0102030405060708090a0b0c'), '230102030405060708090a0b0c'],
      [false, '2800'],
      [new Date(1), '2dbff0000000000000'],
    ];
    for (const [value, hex] of written) expect(encodeValue(value).toString('hex')).to.equal(hex);
    expect(encodeFields(['a', 'a'], [false, true]).toString('hex')).to.equal('0f610001f09efffe');
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
