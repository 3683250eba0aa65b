import { Binary, Decimal128, Double, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } from 'bson';
import { expect } from 'chai';
import type { Document } from '../../src/values/bson-types.js';
import { useEngine } from '../support/run-command.js';

/**
 * What MongoDB answers, and where it says so. A source is a page of the manual ("Query Operators" etc.), a test of
 * the CRUD specification (mongodb/specifications source/crud/tests) or of the server (mongodb/mongo jstests).
 */
type Probe = [filter: Document, ids: unknown[], source: string];

const DATE = new Date(1_600_000_000_000);
const OID = new ObjectId('65f000000000000000000001');

const scalars: Document[] = [
  { _id: 1, a: 5 },
  { _id: 2, a: 5.5 },
  { _id: 3, a: Long.fromNumber(7) },
  { _id: 4, a: 'x' },
  { _id: 5, a: 'X' },
  { _id: 6, a: null },
  { _id: 7 },
  { _id: 8, a: true },
  { _id: 9, a: DATE },
  { _id: 10, a: OID },
  { _id: 11, a: { b: 1, c: 2 } },
  { _id: 12, a: Number.NaN },
  { _id: 13, a: false },
  { _id: 14, a: -5 },
];
const TYPES =
  'Comparison/Sort Order; Query and Projection Operators: comparison is only within one BSON type';
const NULLS = 'Query for Null or Missing Fields; jstests/core/null_query_semantics.js';

const scalarProbes: Probe[] = [
  [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], 'db.collection.find(): an empty filter'],
  [{ a: 5 }, [1], '$eq'],
  [{ a: { $eq: 5 } }, [1], '$eq'],
  [{ a: Long.fromNumber(5) }, [1], 'Comparison/Sort Order: numeric types are equivalent'],
  [{ a: 7 }, [3], 'Comparison/Sort Order: numeric types are equivalent'],
  [{ a: '5' }, [], TYPES],
  [{ a: 'x' }, [4], 'Comparison/Sort Order: strings compare binary'],
  [{ a: true }, [8], '$eq'],
  [{ a: 1 }, [], 'Comparison/Sort Order: booleans are not numbers'],
  [{ a: DATE }, [9], '$eq'],
  [{ a: OID }, [10], '$eq'],
  [{ a: { b: 1, c: 2 } }, [11], 'Match an Embedded Document: exact match including order'],
  [{ a: { c: 2, b: 1 } }, [], 'Match an Embedded Document: exact match including order'],
  [{ a: { b: 1 } }, [], 'Match an Embedded Document: exact match'],
  [{ 'a.b': 1 }, [11], 'Query on Nested Field'],
  [{ 'a.b': 1, 'a.c': 2 }, [11], 'Query on Nested Field'],
  [{ a: Number.NaN }, [12], 'Comparison/Sort Order; jstests/core/nan.js'],
  [{ a: { $gt: 5 } }, [2, 3], TYPES],
  [{ a: { $gte: 5 } }, [1, 2, 3], TYPES],
  [{ a: { $lt: 5 } }, [14], `${TYPES}; jstests/core/nan.js`],
  [{ a: { $lte: 5 } }, [1, 14], `${TYPES}; jstests/core/nan.js`],
  [{ a: { $gt: '' } }, [4, 5], TYPES],
  [{ a: { $gt: 'X' } }, [4], 'Comparison/Sort Order: strings compare binary'],
  [{ a: { $gte: false } }, [8, 13], TYPES],
  [{ a: { $gt: false } }, [8], TYPES],
  [{ a: { $gte: DATE } }, [9], TYPES],
  [{ a: { $lt: new Date() } }, [9], TYPES],
  [{ a: { $gt: 0, $lt: 6 } }, [1, 2], '$and: implicit'],
  [{ a: { $gt: 6, $lt: 0 } }, [], '$and: implicit'],
  [{ a: null }, [6, 7], NULLS],
  [{ a: { $eq: null } }, [6, 7], NULLS],
  [{ a: { $ne: null } }, [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14], NULLS],
  [{ a: { $exists: true } }, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14], '$exists: includes null'],
  [{ a: { $exists: false } }, [7], '$exists'],
  [{ toString: { $exists: true } }, [], '$exists: own fields alone'],
  [{ a: { $exists: 0 } }, [7], '$exists: any falsy value'],
  [{ a: { $exists: null } }, [7], '$exists: any falsy value'],
  [{ a: { $exists: '' } }, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14], '$exists: a string is true'],
  [{ a: { $regex: /x/, $options: 'i' } }, [4, 5], '$regex: $options beside a pattern without'],
  [{ 'a.b': { $exists: true } }, [11], '$exists'],
  [{ a: { $in: [5, 'x', null] } }, [1, 4, 6, 7], `$in; ${NULLS}`],
  [{ a: { $in: [] } }, [], '$in'],
  [{ a: { $nin: [5, 'x', null] } }, [2, 3, 5, 8, 9, 10, 11, 12, 13, 14], `$nin; ${NULLS}`],
  [{ a: { $nin: [] } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], '$nin'],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9] } }, [1, 3], '$in'],
  [{ a: { $ne: 5 } }, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], '$ne: also documents without the field'],
  [{ a: /x/ }, [4], '$regex'],
  [{ a: { $regex: 'x', $options: 'i' } }, [4, 5], '$regex: $options'],
  [{ a: { $regex: '^X' } }, [5], '$regex: index use of prefix expressions'],

  [{ $and: [{ a: { $gt: 0 } }, { a: { $lt: 6 } }] }, [1, 2], '$and'],
  [{ $or: [{ a: 5 }, { a: 'x' }] }, [1, 4], '$or'],
  [{ $or: [{ a: 5 }, { a: 5 }] }, [1], '$or: each document once'],
  [{ _id: { $gt: 3 }, $or: [{ a: 'x' }, { a: 5 }] }, [4], '$or with another condition'],
  [{ _id: { $gt: 1 } }, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], 'crud/tests/unified/find.yml'],
  [{ _id: { $gt: 4, $lt: 6 } }, [5], 'crud/tests/unified/find.yml'],
];

const arrays: Document[] = [
  { _id: 1, a: [1, 2, 3] },
  { _id: 2, a: [] },
  { _id: 3, a: [[1, 2], 3] },
  { _id: 4, a: 2 },
  {
    _id: 5,
    a: [
      { b: 1, c: 5 },
      { b: 2, c: 1 },
    ],
  },
  { _id: 6, a: [{ b: 2, c: 5 }] },
  { _id: 7, a: [null] },
  { _id: 8, a: ['x', 20] },
  { _id: 9, a: { b: [1, 2] } },
  { _id: 10, a: [[]] },
  { _id: 11, a: [{ b: 3 }, {}] },
];
const ARRAYS = 'Query an Array';
const EMBEDDED = 'Query an Array of Embedded Documents';

const arrayProbes: Probe[] = [
  [{ a: [1, 2, 3] }, [1], `${ARRAYS}: exact match`],
  [{ a: [3, 2, 1] }, [], `${ARRAYS}: exact match including order`],
  [{ a: [1, 2] }, [3], `${ARRAYS}: an element that is that array; $eq`],
  [{ a: 2 }, [1, 4], `${ARRAYS}: for an element`],
  [{ a: 3 }, [1, 3], `${ARRAYS}: for an element`],
  [{ a: [] }, [2, 10], '$eq: the array or an element of it'],
  [{ a: { $gt: 2 } }, [1, 3, 8], `${ARRAYS}: at least one element`],
  [{ a: { $gt: 2, $lt: 2 } }, [1], `${ARRAYS}: compound conditions may hold for different elements`],
  [{ a: { $ne: 2 } }, [2, 3, 5, 6, 7, 8, 9, 10, 11], '$ne: no element may equal'],
  [{ a: { $nin: [2, 3] } }, [2, 5, 6, 7, 8, 9, 10, 11], '$nin: no element may be in'],
  [{ 'a.1': 2 }, [1], `${ARRAYS}: by position`],
  [{ 'a.0': 1 }, [1, 3], `${ARRAYS}: by position, the element being an array`],
  [{ 'a.0.0': 1 }, [3], `${ARRAYS}: by position`],
  [{ 'a.5': { $exists: true } }, [], `${ARRAYS}: by position`],
  [{ 'a.0.b': 1 }, [5], `${EMBEDDED}: array index`],
  [{ 'a.b': 1 }, [5, 9], EMBEDDED],
  [{ 'a.b': 2 }, [5, 6, 9], EMBEDDED],
  [{ 'a.b': 2, 'a.c': 5 }, [5, 6], `${EMBEDDED}: a combination of elements satisfies`],
  [{ a: { b: 2, c: 5 } }, [6], `${EMBEDDED}: an element that equals`],
  [{ a: { c: 5, b: 2 } }, [], `${EMBEDDED}: including field order`],
  [{ 'a.b': { $gte: 3 } }, [11], EMBEDDED],
  [{ 'a.b': { $exists: true } }, [5, 6, 9, 11], '$exists'],
  [{ 'a.b': null }, [4, 11], NULLS],
  [{ 'a.b': { $ne: null } }, [1, 2, 3, 5, 6, 7, 8, 9, 10], NULLS],
  [{ 'a.b': { $in: [null, 1] } }, [4, 5, 9, 11], NULLS],
  [{ a: null }, [7], NULLS],
  [{ a: { $in: [[1, 2, 3], 20] } }, [1, 8], '$in: arrays as values'],
  [{ a: { $regex: '^x' } }, [8], '$regex: elements of arrays'],
];

const CUT = [
  ...['$not', '$all', '$size', '$type', '$elemMatch', '$mod', '$near', '$geoWithin', '$bitsAllSet', '$foo'],
].map((operator): [Document, number, string] => [{ a: { [operator]: [1] } }, 238, operator]);

/** The code of each, and what its text says. */
const malformed: [filter: Document, code: number, text: string][] = [
  ...CUT,
  ...['$nor', '$expr', '$comment', '$where', '$text', '$jsonSchema'].map(
    (operator): [Document, number, string] => [{ [operator]: [{ a: 1 }] }, 238, operator],
  ),
  ...[null, Number.NaN, { b: 1 }, [1]].flatMap((operand) =>
    ['$gt', '$gte', '$lt', '$lte'].map((operator): [Document, number, string] => [
      { a: { [operator]: operand } },
      238,
      `${operator} with null, NaN, a document or an array`,
    ]),
  ),
  ...[/a/, new MinKey(), new MaxKey(), new Timestamp({ t: 1, i: 1 }), Decimal128.fromString('1')].flatMap(
    (operand) =>
      [
        { a: { $eq: operand } },
        { a: { $ne: operand } },
        { a: { $in: [operand] } },
        { a: { $gt: operand } },
      ].map((filter): [Document, number, string] => [filter, 238, '']),
  ),
  [{ a: Decimal128.fromString('1') }, 238, 'a Decimal128 value'],
  [{ a: { b: [new MinKey()] } }, 238, 'a MinKey value'],
  [{ a: Long.fromString('9007199254740993') }, 238, 'an integer beyond 2^53'],
  [{ a: { $gt: 1, b: 2 } }, 238, 'the filter operator b'],
  [{ a: { $options: 'i' } }, 238, 'the filter operator $options'],
  [{ $and: [] }, 2, '$and'],
  [{ $or: {} }, 2, '$or must be a nonempty array'],
  [{ $or: [1] }, 9, 'expression in an object'],
  [{ a: { $in: 1 } }, 2, '$in needs an array'],
  [{ a: { $nin: 1 } }, 2, '$nin needs an array'],
  [{ a: { $in: [{ $gt: 1 }] } }, 2, 'cannot nest $ under $in'],
  [{ 'a..b': 1 }, 2, "'a..b' contains an empty component"],
  [{ 'a.$b': 1 }, 16410, 'a.$b'],
];

describe('embedded database: what filters mean', () => {
  const { run, find, failureOf } = useEngine();
  /** Each probe is asked of a collection without and, with a key, of one with an index. */
  async function probe(documents: Document[], probes: Probe[], key?: Document): Promise<void> {
    const collections = key ? ['plain', 'indexed'] : ['plain'];
    for (const name of collections) await run({ insert: name, documents });
    if (key) await run({ createIndexes: 'indexed', indexes: [{ key, name: 'probed' }] });
    for (const [filter, ids, source] of probes)
      for (const collection of collections) {
        const found = (await find(collection, { filter })).map((document) => document._id as number);
        const label = `${JSON.stringify(filter)} in ${collection} (${source})`;
        expect(
          found.sort((a, b) => a - b),
          label,
        ).to.deep.equal(ids);
      }
  }

  it(`${scalarProbes.length} probes of scalars, null and missing fields`, () =>
    probe(scalars, scalarProbes, { a: 1 }));
  it('the same through a descending index', () => probe(scalars, scalarProbes, { a: -1 }));
  it(`${arrayProbes.length} probes of arrays and embedded documents`, () => probe(arrays, arrayProbes));

  it(`${malformed.length} malformed or refused filters have a code and name what is wrong`, async () => {
    for (const [filter, code, text] of malformed) {
      const reply = await failureOf({ find: 'c', filter });
      expect(reply.code, JSON.stringify(filter)).to.equal(code);
      expect(reply.errmsg).to.contain(text);
    }
  });

  it('compares values of one type alone, in their order', async () => {
    const types: [low: unknown, high: unknown][] = [
      [1, new Double(1.5)],
      [Long.fromNumber(2 ** 40), 2 ** 41],
      ['a', 'b'],
      [false, true],
      [new Date(1), new Date(2)],
      [new ObjectId('650000000000000000000001'), new ObjectId('650000000000000000000002')],
      [new Binary(Buffer.from([9])), new Binary(Buffer.from([1, 1]))],
      [new UUID('00000000-0000-4000-8000-000000000000'), new UUID('00000000-0000-4000-8000-000000000001')],
    ];
    const documents = types.flat().map((a, _id) => ({ _id, a }));
    for (const name of ['plain', 'up', 'down']) await run({ insert: name, documents });
    await run({ createIndexes: 'up', indexes: [{ key: { a: 1 }, name: 'a' }] });
    await run({ createIndexes: 'down', indexes: [{ key: { a: -1 }, name: 'a' }] });
    const isNumber = (i: number) => i < 4;
    const isBinary = (i: number) => i > 11;
    const sameType = (i: number, j: number) =>
      isNumber(i) ? isNumber(j) : isBinary(i) ? isBinary(j) : (i ^ 1) === j || i === j;
    for (const name of ['plain', 'up', 'down'])
      for (const [i, { a }] of documents.entries())
        for (const [operator, holds] of [
          ['$gt', (j: number) => j > i],
          ['$gte', (j: number) => j >= i],
          ['$lt', (j: number) => j < i],
          ['$lte', (j: number) => j <= i],
          ['$eq', (j: number) => j === i],
        ] as const) {
          const found = await find(name, { filter: { a: { [operator]: a } }, sort: { _id: 1 } });
          expect(
            found.map(({ _id }) => _id),
            `${operator} ${a} in ${name}`,
          ).to.deep.equal(documents.map(({ _id }) => _id).filter((j) => sameType(i, j) && holds(j)));
        }
  });
});
