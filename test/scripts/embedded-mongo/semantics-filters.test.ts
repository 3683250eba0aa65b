import { Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import { expect } from 'chai';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { buildEngine, find, runCommand } from './run-command.js';

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
  [{ a: Decimal128.fromString('5.0') }, [1], 'Comparison/Sort Order: numeric types are equivalent'],
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
  [{ a: { $lt: Number.NaN } }, [], 'jstests/core/nan.js'],
  [{ a: { $lte: Number.NaN } }, [12], 'jstests/core/nan.js'],
  [{ a: { $gte: Number.NaN } }, [12], 'jstests/core/nan.js'],
  [{ a: { $gt: '' } }, [4, 5], TYPES],
  [{ a: { $gt: 'X' } }, [4], 'Comparison/Sort Order: strings compare binary'],
  [{ a: { $gte: false } }, [8, 13], TYPES],
  [{ a: { $gt: false } }, [8], TYPES],
  [{ a: { $gte: DATE } }, [9], TYPES],
  [{ a: { $lt: new Date() } }, [9], TYPES],
  [
    { a: { $lt: new Timestamp({ t: 2 ** 31, i: 1 }) } },
    [],
    'Comparison/Sort Order: dates and timestamps are apart',
  ],
  [{ a: { $gt: { b: 1 } } }, [11], 'Comparison/Sort Order: objects'],
  [{ a: { $gt: 0, $lt: 6 } }, [1, 2], '$and: implicit'],
  [{ a: { $gt: 6, $lt: 0 } }, [], '$and: implicit'],
  [{ a: null }, [6, 7], NULLS],
  [{ a: { $eq: null } }, [6, 7], NULLS],
  [{ a: { $ne: null } }, [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14], NULLS],
  [{ a: { $gte: null } }, [6, 7], NULLS],
  [{ a: { $lte: null } }, [6, 7], NULLS],
  [{ a: { $gt: null } }, [], NULLS],
  [{ a: { $not: { $gte: null } } }, [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14], NULLS],
  [{ a: { $exists: true } }, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14], '$exists: includes null'],
  [{ a: { $exists: false } }, [7], '$exists'],
  [{ a: { $exists: 0 } }, [7], '$exists: any falsy value'],
  [{ a: { $exists: Decimal128.fromString('0E+3') } }, [7], '$exists: any falsy value'],
  [{ a: { $exists: null } }, [7], '$exists: any falsy value'],
  [{ a: { $exists: '' } }, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14], '$exists: a string is true'],
  [{ a: { $regex: /x/, $options: 'i' } }, [4, 5], '$regex: $options beside a pattern without'],
  [{ a: { $type: [1, 18] } }, [2, 3, 12], '$type: an array of numbers'],
  [{ 'a.b': { $exists: true } }, [11], '$exists'],
  [{ a: { $in: [5, 'x', null] } }, [1, 4, 6, 7], `$in; ${NULLS}`],
  [{ a: { $in: [] } }, [], '$in'],
  [{ a: { $nin: [5, 'x', null] } }, [2, 3, 5, 8, 9, 10, 11, 12, 13, 14], `$nin; ${NULLS}`],
  [{ a: { $nin: [] } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], '$nin'],
  [{ a: { $in: [/^x/i] } }, [4, 5], '$in: regular expressions'],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9] } }, [1, 3], '$in'],
  [{ a: { $ne: 5 } }, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], '$ne: also documents without the field'],
  [
    { a: { $not: { $gt: 5 } } },
    [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    '$not: also documents without the field',
  ],
  [{ a: { $not: /x/ } }, [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], '$not and regular expressions'],
  [{ a: /x/ }, [4], '$regex'],
  [{ a: { $regex: 'x', $options: 'i' } }, [4, 5], '$regex: $options'],
  [{ a: { $regex: '^X' } }, [5], '$regex: index use of prefix expressions'],

  [{ a: { $type: 'number' } }, [1, 2, 3, 12, 14], '$type: the alias number'],
  [{ a: { $type: 'double' } }, [2, 12], '$type'],
  [{ a: { $type: 16 } }, [1, 14], '$type: by number'],
  [{ a: { $type: ['long', 'bool'] } }, [3, 8, 13], '$type: an array of types'],
  [{ a: { $type: 'null' } }, [6], '$type: null does not match missing'],
  [{ a: { $type: 'object' } }, [11], '$type'],
  [
    { a: { $gt: new MinKey() } },
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14],
    'Comparison/Sort Order: MinKey',
  ],
  [
    { a: { $lt: new MaxKey() } },
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14],
    'Comparison/Sort Order: MaxKey',
  ],
  [{ $and: [{ a: { $gt: 0 } }, { a: { $lt: 6 } }] }, [1, 2], '$and'],
  [{ $or: [{ a: 5 }, { a: 'x' }] }, [1, 4], '$or'],
  [{ $nor: [{ a: { $exists: true } }] }, [7], '$nor'],
  [{ $nor: [{ a: 5 }, { _id: { $gt: 2 } }] }, [2], '$nor'],
  [{ $or: [{ a: 5 }, { a: 5 }] }, [1], '$or: each document once'],
  [{ _id: { $gt: 3 }, $or: [{ a: 'x' }, { a: 5 }] }, [4], '$or with another condition'],
  [{ $expr: { $gt: ['$a', 6] }, a: { $type: 'number' } }, [3], '$expr'],
  [{ $comment: 'why', a: 5 }, [1], '$comment'],
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
  [{ a: { $elemMatch: { $gt: 2, $lt: 2 } } }, [], `${ARRAYS}: $elemMatch, one element for all`],
  [{ a: { $elemMatch: { $gte: 2, $lt: 3 } } }, [1], '$elemMatch'],
  [{ a: { $elemMatch: { $eq: 2 } } }, [1], '$elemMatch: only arrays'],
  [{ a: { $ne: 2 } }, [2, 3, 5, 6, 7, 8, 9, 10, 11], '$ne: no element may equal'],
  [{ a: { $nin: [2, 3] } }, [2, 5, 6, 7, 8, 9, 10, 11], '$nin: no element may be in'],
  [{ a: { $not: { $gt: 2 } } }, [2, 4, 5, 6, 7, 9, 10, 11], '$not'],
  [{ 'a.1': 2 }, [1], `${ARRAYS}: by position`],
  [{ 'a.0': 1 }, [1, 3], `${ARRAYS}: by position, the element being an array`],
  [{ 'a.0.0': 1 }, [3], `${ARRAYS}: by position`],
  [{ 'a.5': { $exists: true } }, [], `${ARRAYS}: by position`],
  [{ 'a.0.b': 1 }, [5], `${EMBEDDED}: array index`],
  [{ a: { $size: 0 } }, [2], '$size'],
  [{ a: { $size: 2 } }, [3, 5, 8, 11], '$size'],
  [{ a: { $size: 1 } }, [6, 7, 10], '$size'],
  [{ 'a.b': { $size: 2 } }, [9], '$size'],
  [{ a: { $all: [1, 2] } }, [1], '$all'],
  [{ a: { $all: [3, 1] } }, [1], '$all: in any order'],
  [{ a: { $all: [2] } }, [1, 4], '$all: also a scalar'],
  [{ a: { $all: [[1, 2]] } }, [3], '$all: nested arrays'],
  [{ a: { $all: [] } }, [], '$all: an empty array matches nothing'],
  [{ a: { $all: [{ $elemMatch: { b: 1 } }, { $elemMatch: { c: 1 } }] } }, [5], '$all with $elemMatch'],
  [{ 'a.b': 1 }, [5, 9], EMBEDDED],
  [{ 'a.b': 2 }, [5, 6, 9], EMBEDDED],
  [{ 'a.b': 2, 'a.c': 5 }, [5, 6], `${EMBEDDED}: a combination of elements satisfies`],
  [{ a: { $elemMatch: { b: 2, c: 5 } } }, [6], `${EMBEDDED}: a single nested document`],
  [{ a: { b: 2, c: 5 } }, [6], `${EMBEDDED}: an element that equals`],
  [{ a: { c: 5, b: 2 } }, [], `${EMBEDDED}: including field order`],
  [{ 'a.b': { $gte: 3 } }, [11], EMBEDDED],
  [{ 'a.b': { $exists: true } }, [5, 6, 9, 11], '$exists'],
  [{ 'a.b': null }, [4, 11], NULLS],
  [{ 'a.b': { $ne: null } }, [1, 2, 3, 5, 6, 7, 8, 9, 10], NULLS],
  [{ 'a.b': { $in: [null, 1] } }, [4, 5, 9, 11], NULLS],
  [{ a: null }, [7], NULLS],
  [{ a: { $elemMatch: { $eq: null } } }, [7], NULLS],
  [{ a: { $elemMatch: { $ne: null } } }, [1, 3, 5, 6, 8, 10, 11], NULLS],
  [{ a: { $elemMatch: { b: null } } }, [3, 10, 11], NULLS],
  [{ a: { $elemMatch: { b: { $ne: null } } } }, [5, 6, 11], NULLS],
  [{ 'a.b': { $elemMatch: { $eq: 1 } } }, [9], '$elemMatch'],
  [{ a: { $type: 'array' } }, [1, 2, 3, 5, 6, 7, 8, 10, 11], '$type: arrays themselves'],
  [{ a: { $type: 'string' } }, [8], '$type: elements of arrays'],
  [{ a: { $type: 'object' } }, [5, 6, 9, 11], '$type: elements of arrays'],
  [{ a: { $in: [[1, 2, 3], 20] } }, [1, 8], '$in: arrays as values'],
  [{ a: { $gt: [1, 2] } }, [1, 3, 5, 6, 8, 10, 11], 'Comparison/Sort Order: arrays as a whole'],
  [{ a: { $regex: '^x' } }, [8], '$regex: elements of arrays'],
];

const malformed: [filter: Document, code: number, source: string][] = [
  [{ $foo: 1 }, 2, 'BadValue: unknown top level operator'],
  [{ a: { $foo: 1 } }, 2, 'BadValue: unknown operator'],
  [{ a: { $gt: 1, b: 2 } }, 2, 'BadValue: unknown operator: b'],
  [{ $and: [] }, 2, '$and: a nonempty array'],
  [{ $or: {} }, 2, '$or: an array'],
  [{ $nor: [1] }, 2, '$nor: full objects'],
  [{ a: { $in: 1 } }, 2, '$in: needs an array'],
  [{ a: { $in: [{ $gt: 1 }] } }, 2, '$in: cannot nest $'],
  [{ a: { $not: 1 } }, 2, '$not: a regex or a document'],
  [{ a: { $not: {} } }, 2, '$not: cannot be empty'],
  [{ a: { $size: 1.5 } }, 9, '$size: an integer'],
  [{ a: { $size: -1 } }, 9, '$size: not negative'],
  [{ a: { $type: 'text' } }, 2, '$type: unknown alias'],
  [{ a: { $regex: '(' } }, 51091, '$regex: invalid'],
  [{ a: { $regex: 'a', $options: 'q' } }, 51108, '$regex: invalid flag'],
  [{ a: { $mod: [2, 0] } }, 238, 'refused by name'],
  [{ a: { $options: 'i' } }, 2, '$regex: $options needs a $regex'],
  [{ a: { $ne: /a/ } }, 2, '$ne: no regex'],
  [{ a: { $elemMatch: 1 } }, 2, '$elemMatch: an object'],
  [{ a: { $all: 1 } }, 2, '$all: an array'],
  [{ a: { $elemMatch: { $expr: true } } }, 2, '$expr: only on the top-level document'],
  [{ a: { $nin: 1 } }, 2, '$nin: needs an array'],
  [{ a: { $gt: /a/ } }, 2, '$gt: no regex'],
  [{ a: { $lte: /a/ } }, 2, '$lte: no regex'],
  [{ 'a..b': 1 }, 2, 'FieldPath: no empty component'],
  [{ a: { $size: 'x' } }, 9, '$size: a number'],
  [{ a: { $type: [] } }, 9, '$type: at least one type'],
  [{ a: { $type: 99 } }, 2, '$type: unknown number'],
  [{ a: { $type: true } }, 2, '$type: a name or a number'],
  [{ a: { $regex: 1 } }, 2, '$regex: a string'],
  [{ a: { $regex: 'a', $options: 1 } }, 2, '$regex: $options is a string'],
  [{ a: { $regex: /a/i, $options: 'm' } }, 51075, '$regex: options at two places'],
  [{ a: { $regex: /a/i, $options: '' } }, 51075, '$regex: options at two places'],
  [{ a: { $all: [{ $elemMatch: { b: 1 } }, 1] } }, 2, '$all: all by $elemMatch or none'],
  [{ a: { $all: [{ $elemMatch: { b: 1 } }, null] } }, 2, '$all: all by $elemMatch or none'],
  [{ a: { $all: [{ $gt: 1 }] } }, 2, '$all: values'],
  [{ a: { $elemMatch: { $and: [{ $expr: true }] } } }, 2, '$expr: only on the top-level document'],
  ...[
    ...['$near', '$nearSphere', '$geoWithin', '$geoIntersects', '$within'],
    ...['$bitsAllSet', '$bitsAnySet', '$bitsAllClear', '$bitsAnyClear'],
  ].map((operator): [Document, number, string] => [{ a: { [operator]: 1 } }, 238, 'refused by name']),
  [{ a: { $regex: 'a', $options: 'x' } }, 238, 'refused by name'],
  [{ $where: 'true' }, 238, 'refused by name'],
  [{ $text: { $search: 'x' } }, 238, 'refused by name'],
  [{ $jsonSchema: {} }, 238, 'refused by name'],
  [{ $expr: { $function: { body: 'x', args: [], lang: 'js' } } }, 238, 'refused by name'],
];

/** Each probe is asked of a collection without and of one with an index on the path. */
async function probe(documents: Document[], probes: Probe[], key: Document): Promise<void> {
  const engine = buildEngine();
  await runCommand(engine, { insert: 'plain', documents });
  await runCommand(engine, { insert: 'indexed', documents });
  await runCommand(engine, { createIndexes: 'indexed', indexes: [{ key, name: 'probed' }] });
  for (const [filter, ids, source] of probes)
    for (const collection of ['plain', 'indexed']) {
      const found = (await find(engine, collection, { filter })).map((document) => document._id as number);
      const label = `${JSON.stringify(filter)} in ${collection} (${source})`;
      expect(
        found.sort((a, b) => a - b),
        label,
      ).to.deep.equal(ids);
    }
  await engine.close();
}

describe('embedded database: what filters mean', () => {
  it(`${scalarProbes.length} probes of scalars, null and missing fields`, () =>
    probe(scalars, scalarProbes, { a: 1 }));
  it('the same through a descending index', () => probe(scalars, scalarProbes, { a: -1 }));
  it(`${arrayProbes.length} probes of arrays and embedded documents`, () =>
    probe(arrays, arrayProbes, { a: 1 }));
  it('the same through an index on the embedded field', () => probe(arrays, arrayProbes, { 'a.b': 1 }));

  it(`${malformed.length} malformed or refused filters have mongod's code`, async () => {
    const engine = buildEngine();
    await runCommand(engine, { insert: 'c', documents: [{ _id: 1, a: 1 }] });
    for (const [filter, code, source] of malformed) {
      const failure = await find(engine, 'c', { filter }).then(
        () => undefined,
        (error) => error.reply,
      );
      expect(failure?.code, `${JSON.stringify(filter)} (${source})`).to.equal(code);
      expect(failure?.codeName).to.be.a('string');
    }
    await engine.close();
  });
});
