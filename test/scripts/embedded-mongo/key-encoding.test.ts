import { Binary, BSONRegExp, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } from 'bson';
import { expect } from 'chai';
import fc from 'fast-check';
import { compareValues } from '../../../scripts/embedded-mongo/bson-order.js';
import { encodeFields, encodeValue } from '../../../scripts/embedded-mongo/key-encoding.js';

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
