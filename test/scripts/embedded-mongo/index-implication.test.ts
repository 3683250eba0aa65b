import { inspect } from 'node:util';
import { BSONRegExp, Decimal128, Double, Long, MaxKey, MinKey } from 'bson';
import { expect } from 'chai';
import { conjunctsOf, serves } from '../../../scripts/embedded-mongo/indexes/index-implication.js';
import { parseIndexSpec } from '../../../scripts/embedded-mongo/indexes/index-spec.js';
import { parseFilter } from '../../../scripts/embedded-mongo/query/filter.js';
import { compileMatcher } from '../../../scripts/embedded-mongo/query/matcher.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';

const COMPARISONS = ['$eq', '$gt', '$gte', '$lt', '$lte'];

/** Values of the kinds that are compared by rules of their own. */
const VALUES: unknown[] = [
  ...[null, false, true, -1, 0, 1, 2, Number.NaN, new Double(1), Long.fromNumber(2)],
  ...[Decimal128.fromString('1'), Decimal128.fromString('NaN'), '', 'a', 'b', new Date(0)],
  ...[new MinKey(), new MaxKey(), [], [1], [[1]], { x: 1 }, { x: 2 }],
];

const DOCUMENTS: Document[] = [
  {},
  ...[...VALUES, 0.5, 1.5, 3, 'ab', [0, 2], [Number.NaN, 1], ['a', 1], [null, 1], [{ x: 1 }], [[2]]].map(
    (a) => ({ a }),
  ),
];

const compared = (values: unknown[]): Document[] =>
  values.flatMap((value) => COMPARISONS.map((operator) => ({ a: { [operator]: value } })));

const CONDITIONS: Document[] = [
  ...compared(VALUES),
  ...[[1], [1, 2], [1, 'a'], [null, 1], [Number.NaN], ['a', [1]]].map(($in) => ({ a: { $in } })),
  ...['number', 'int', 'double', 'string', 'null', 'array', 'object', 'minKey', 'maxKey', 'date'].map(
    ($type) => ({ a: { $type } }),
  ),
  { a: { $type: ['number', 'string'] } },
  { a: { $exists: true } },
  { $or: [{ a: { $gt: 1 } }, { a: 'a' }] },
  { $and: [{ a: { $gt: 0 } }, { a: { $lt: 2 } }] },
];

const QUERIES: Document[] = [
  ...CONDITIONS,
  ...[null, 1, 'a'].map(($ne) => ({ a: { $ne } })),
  ...[{ $exists: false }, { $nin: [1] }, { $not: { $gt: 1 } }, { $size: 1 }].map((a) => ({
    a,
  })),
  ...[{ $regex: '^a' }, { $in: [new BSONRegExp('a'), 1] }, { $in: [] }, { $all: [1, 2] }].map((a) => ({ a })),
  ...[{ $elemMatch: { $gt: 0 } }, { $elemMatch: { x: 1 } }, { $gt: 0, $lt: 2 }].map((a) => ({ a })),
  ...[{ $nor: [{ a: 1 }] }, { $expr: { $gt: ['$a', 1] } }, { b: 1 }, {}],
];

/** Which of some documents a filter finds. */
const foundBy = (filter: Document, documents: Document[]) => {
  const matches = compileMatcher(parseFilter(filter));
  return documents.map((document) => matches(document));
};

const show = (value: Document) => inspect(value, { depth: null, breakLength: Number.POSITIVE_INFINITY });

const within = (inner: boolean[], outer: boolean[]) => inner.every((found, i) => !found || outer[i]);

function isServed(options: Document, filter: Document): boolean {
  const index = { spec: parseIndexSpec({ key: { a: 1 }, ...options }), ident: 1, multikey: false };
  return serves(index, conjunctsOf(parseFilter(filter)));
}

/** Every pair of a condition and a query, with what each finds. */
function* pairs(conditions: Document[], queries: Document[], documents: Document[]) {
  const asked = queries.map((query) => ({ query, finds: foundBy(query, documents) }));
  for (const partialFilterExpression of conditions) {
    const holds = foundBy(partialFilterExpression, documents);
    for (const { query, finds } of asked)
      yield {
        holds,
        finds,
        served: isServed({ partialFilterExpression }, query),
        label: () => `${show(query)} by an index over ${show(partialFilterExpression)}`,
      };
  }
}

describe('embedded database: which queries a partial or sparse index serves', () => {
  it('none that finds a document outside of it', () => {
    for (const { holds, finds, served, label } of pairs(CONDITIONS, QUERIES, DOCUMENTS))
      if (served && !within(finds, holds)) expect.fail(label());
  });

  it('of numbers and strings, each that demands no less than its condition', () => {
    const values = [-1, 0, 1, 2];
    const lists = [[1], [0, 1], [-1, 2], ['a', 'b']].map(($in) => ({ a: { $in } }));
    const types = ['number', 'string', ['number', 'string']].map(($type) => ({ a: { $type } }));
    const demands = [...compared([...values, 'a', 'b']), ...lists, ...types, { a: { $exists: true } }];
    const between = [...values, -1.5, -0.5, 0.5, 1.5, 2.5, '', 'a', 'aa', 'b', 'bb', true, null];
    const documents = [{}, ...between.map((a) => ({ a }))];
    for (const { holds, finds, served, label } of pairs(demands, demands, documents))
      if (served !== within(finds, holds)) expect.fail(label());
  });

  const served: [condition: Document, query: Document][] = [
    [{ $or: [{ a: 1 }, { b: 1 }] }, { b: 1, c: 1 }],
    [{ a: { $gt: 0 }, b: { $exists: true } }, { $and: [{ a: 1 }, { b: { $size: 1 } }] }],
    [{ b: { $exists: true } }, { b: { $regex: 'x' } }],
    [{ b: { $exists: true } }, { b: { $elemMatch: { $gt: 1 } } }],
    [{ b: { $type: ['int', 'string', 'bool'] } }, { b: { $type: ['string', 'int'] } }],
  ];
  for (const [partialFilterExpression, query] of served)
    it(`${JSON.stringify(query)}, by an index over ${JSON.stringify(partialFilterExpression)}`, () =>
      expect(isServed({ partialFilterExpression }, query)).to.equal(true));

  const refused: [condition: Document, query: Document][] = [
    [{ $or: [{ a: 1 }, { b: 1 }] }, { c: 1 }],
    [{ a: { $gt: 0 }, b: { $exists: true } }, { a: 1 }],
    [{ a: { $gt: 0 }, b: { $exists: true } }, { b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { $or: [{ a: 1 }, { b: 1 }] }],
  ];
  for (const [partialFilterExpression, query] of refused)
    it(`not ${JSON.stringify(query)}, by an index over ${JSON.stringify(partialFilterExpression)}`, () =>
      expect(isServed({ partialFilterExpression }, query)).to.equal(false));

  it('a sparse index: each query that no document without its fields answers', () => {
    const negative = ['$ne', '$not', '$nin', '$exists'];
    for (const query of QUERIES) {
      if (!query.a || negative.some((operator) => operator in (query.a as Document))) continue;
      // `$gt: null` finds nothing at all.
      if (!foundBy(query, DOCUMENTS).includes(true)) continue;
      const [findsMissing] = foundBy(query, [{}]);
      expect(isServed({ sparse: true }, query), show(query)).to.equal(!findsMissing);
      // One field that is demanded is enough: the index holds what has any of its fields.
      const compound = { key: { b: 1, a: 1 }, sparse: true };
      expect(isServed(compound, query), show(query)).to.equal(!findsMissing);
      expect(isServed({ key: { b: 1 }, sparse: true }, query), show(query)).to.equal(false);
    }
    expect(isServed({ sparse: true }, { a: { $exists: true } })).to.equal(true);
    for (const query of [{}, { a: { $exists: false } }, { a: { $ne: 1 } }, { $nor: [{ a: 1 }] }])
      expect(isServed({ sparse: true }, query), JSON.stringify(query)).to.equal(false);
  });
});
