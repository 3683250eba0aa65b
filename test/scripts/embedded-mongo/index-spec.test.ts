import { expect } from 'chai';
import { parseIndexSpec } from '../../../scripts/embedded-mongo/indexes/index-spec.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';

/** A key of so many fields. */
const fields = (count: number): Document =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));

const partial = (partialFilterExpression: Document): Document => ({ key: { a: 1 }, partialFilterExpression });

const CANNOT_CREATE_INDEX = 67;
const NOT_SERVED = 238;

const refused: [code: number, documents: Document[]][] = [
  [2, [null as unknown as Document, {}, { key: 1 }]],
  [197, [{ key: { a: 1 }, nonsense: 1 }]],
  [CANNOT_CREATE_INDEX, [0, true, null, Number.NaN, Number.POSITIVE_INFINITY].map((a) => ({ key: { a } }))],
  [
    CANNOT_CREATE_INDEX,
    ['', '$a', '$id', 'a..b', 'a.', 'a.$b', 'a.$id'].map((name) => ({ key: { [name]: 1 } })),
  ],
  [CANNOT_CREATE_INDEX, [{ key: {} }, { key: fields(33) }]],
  [CANNOT_CREATE_INDEX, ['', 5].map((name) => ({ key: { a: 1 }, name }))],
  [CANNOT_CREATE_INDEX, [{ ...partial({ a: 1 }), sparse: true }]],
  [
    CANNOT_CREATE_INDEX,
    [
      ...[{ $ne: 1 }, { $exists: false }, { $nin: [1] }, { $regex: 'x' }, { $size: 1 }],
      ...[{ $elemMatch: { b: 1 } }, { $not: { $gt: 1 } }],
    ].flatMap((a) => [partial({ a }), partial({ $or: [{ b: 1 }, { $and: [{ a }] }] })]),
  ],
  [CANNOT_CREATE_INDEX, [partial({ $nor: [{ a: 1 }] }), partial({ $expr: true })]],
  [NOT_SERVED, [{ key: { a: 'text' } }, { key: { '$**': 1 } }, { key: { 'a.$**': 1 } }]],
  [
    NOT_SERVED,
    [
      ...[{ collation: { locale: 'ko' } }, { collation: 1 }, { hidden: true }, { weights: { a: 1 } }],
      ...[{ wildcardProjection: { a: 1 } }, { '2dsphereIndexVersion': 3 }, { expireAfterSeconds: 1 }],
    ].map((option) => ({ key: { a: 1 }, ...option })),
  ],
];

const taken: Document[] = [
  { key: fields(32) },
  { key: { a: 1 }, collation: { locale: 'simple' } },
  partial({ $or: [{ a: 1 }, { a: { $gt: 1 } }, { a: { $in: [1] } }], $and: [{ a: { $exists: true } }] }),
  partial({ a: { $type: 'string' } }),
];

describe('embedded database: what an index may be', () => {
  for (const [code, documents] of refused)
    for (const document of documents)
      it(`not ${JSON.stringify(document).slice(0, 90)}`, () => {
        expect(() => parseIndexSpec(document))
          .to.throw()
          .with.property('code', code);
      });

  for (const document of taken)
    it(JSON.stringify(document).slice(0, 90), () => {
      expect(parseIndexSpec(document).document).to.deep.include({ v: 2, ...document });
    });

  it('named by its fields and directions, and listed as it was given', () => {
    const key = { a: 1, 'b.c': -1 };
    expect(parseIndexSpec({ key, ns: 'test.c', background: true, unique: true })).to.deep.include({
      ...{ name: 'a_1_b.c_-1', descending: [false, true], unique: true, sparse: false },
      document: { v: 2, key, name: 'a_1_b.c_-1', unique: true },
    });
    expect(parseIndexSpec({ key, name: 'given' }).name).to.equal('given');
  });

  it('unique without saying so on _id alone', () => {
    for (const [key, unique] of [
      [{ _id: 1 }, true],
      [{ a: 1 }, false],
      [{ _id: 1, a: 1 }, false],
    ] as const)
      expect(parseIndexSpec({ key }).unique, JSON.stringify(key)).to.equal(unique);
  });
});
