import { expect } from 'chai';
import { parseIndexSpec } from '../../src/storage/index-spec.js';
import type { Document } from '../../src/values/bson-types.js';

/** A key of so many fields. */
const fields = (count: number): Document =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));

const partial = (partialFilterExpression: Document): Document => ({ key: { a: 1 }, partialFilterExpression });

const refused: [code: number, documents: Document[]][] = [
  [2, [null as unknown as Document, {}, { key: 1 }]],
  [67, [0, true, null, Number.NaN].map((a) => ({ key: { a } }))],
  [67, [{ key: {} }, { key: fields(33) }]],
  [67, ['', 5].map((name) => ({ key: { a: 1 }, name }))],
  [2, ['', 'a..b', 'a.'].map((name) => ({ key: { [name]: 1 } }))],
  [16410, ['$a', 'a.$b', '$**', 'a.$**'].map((name) => ({ key: { [name]: 1 } }))],
  [
    238,
    [{ a: 1, b: { $gt: 1 } }, { a: { $in: [1, 2] } }, { a: { $ne: 1 } }, { a: { $exists: false } }].map(
      partial,
    ),
  ],
  [238, [{ $or: [{ a: 1 }, { b: 1 }] }, { a: /x/ }].map(partial)],
  [238, ['text', 'hashed', '2dsphere'].map((a) => ({ key: { a } }))],
  [
    238,
    ['sparse', 'collation', 'hidden', 'expireAfterSeconds', 'nonsense'].map((option) => ({
      key: { a: 1 },
      [option]: 1,
    })),
  ],
];

const taken: Document[] = [
  { key: fields(32) },
  { key: { a: -1, 'b.c': 1 }, v: 2, name: 'given', unique: true },
  partial({ a: 1 }),
  partial({ a: { $exists: true }, 'b.c': 'x', d: { $eq: null } }),
];

describe('embedded database: what an index may be', () => {
  for (const [code, documents] of refused)
    for (const document of documents)
      it(`not ${JSON.stringify(document).slice(0, 90)}: ${code}`, () => {
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
    expect(parseIndexSpec({ key, unique: true })).to.deep.include({
      ...{ name: 'a_1_b.c_-1', unique: true },
      fields: [
        { name: 'a', path: ['a'], descending: false },
        { name: 'b.c', path: ['b', 'c'], descending: true },
      ],
      document: { v: 2, key, name: 'a_1_b.c_-1', unique: true },
    });
    expect(parseIndexSpec({ key, name: 'given' }).name).to.equal('given');
  });

  it('directed by the sign of any number', () => {
    const directions = [0.5, 5, -0.5, -1].map((a) => parseIndexSpec({ key: { a } }).fields[0]?.descending);
    expect(directions).to.deep.equal([false, false, true, true]);
  });

  it('unique without saying so on _id alone', () => {
    for (const [key, unique] of [
      [{ _id: 1 }, true],
      [{ a: 1 }, false],
      [{ _id: 1, a: 1 }, false],
    ] as const)
      expect(parseIndexSpec({ key }).unique, JSON.stringify(key)).to.equal(unique);
    expect(parseIndexSpec({ key: { a: 1 }, unique: false }).unique).to.equal(false);
  });
});
