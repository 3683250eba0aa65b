import { Decimal128, Double, deserialize, Int32, Long } from 'bson';
import { expect } from 'chai';
import type { Engine } from '../../../scripts/embedded-mongo/commands/engine.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { buildEngine, CommandFailure, find, runCommand } from './run-command.js';

/**
 * Aggregation against MongoDB's documented answers. Sources: the pages of the manual named by operator, and mongod's
 * own tests (jstests/…) and sources (src/…) where the manual is silent.
 */

/** The results of a pipeline with their BSON number types, or the code it is refused with. */
async function aggregate(engine: Engine, pipeline: Document[], collection = 'c'): Promise<unknown> {
  const reply = await runCommand(engine, { aggregate: collection, pipeline, cursor: {} }, 'test', (body) =>
    deserialize(body, { promoteValues: false }),
  ).catch((error: CommandFailure) => error);
  if (reply instanceof CommandFailure) return Number(reply.reply.code);
  return (reply.cursor as { firstBatch: Document[] }).firstBatch;
}

const decimal = (text: string) => Decimal128.fromString(text);
const long = (text: string) => Long.fromString(text);
const int = (value: number) => new Int32(value);
const double = (value: number) => new Double(value);

const MAX_LONG = '9223372036854775807';

/** The values `a` of the documents of one group (undefined: missing), an accumulator and its result. */
const accumulators: [values: unknown[], accumulator: Document, expected: unknown, source: string][] = [
  [[int(1), int(2)], { $sum: '$a' }, int(3), '$sum: the type of its widest operand'],
  [[int(1), long('2')], { $sum: '$a' }, long('3'), '$sum'],
  [[int(1), double(2)], { $sum: '$a' }, double(3), '$sum'],
  [[int(2 ** 31 - 1), int(1)], { $sum: '$a' }, long('2147483648'), '$sum: an int that overflows is a long'],
  [
    [long('9007199254740993'), long('2')],
    { $sum: '$a' },
    long('9007199254740995'),
    '$sum: longs beyond 2^53 are exact',
  ],
  [
    [long(MAX_LONG), long('1')],
    { $sum: '$a' },
    double(2 ** 63),
    'accumulator_sum.cpp: a long that overflows is a double',
  ],
  [
    [long(MAX_LONG), long('1'), long('-2')],
    { $sum: '$a' },
    long('9223372036854775806'),
    'accumulator_sum.cpp: only the final sum counts',
  ],
  [Array(10).fill(double(0.1)), { $sum: '$a' }, double(1), 'summation.h: compensated'],
  [[double(1e16), double(1), double(-1e16)], { $sum: '$a' }, double(1), 'summation.h: compensated'],
  [[double(Infinity), int(1)], { $sum: '$a' }, double(Infinity), 'summation.h: infinity'],
  [[double(Infinity), double(-Infinity)], { $sum: '$a' }, double(NaN), 'summation.h'],
  [[undefined, null, 'x', [int(5)], {}, true], { $sum: '$a' }, int(0), '$sum: ignores non-numeric values'],
  [[int(1), 'x', int(2)], { $sum: '$a' }, int(3), '$sum: ignores non-numeric values'],
  [[int(1), int(2)], { $sum: int(2) }, int(4), '$sum: a constant'],
  [[decimal('0.1'), decimal('0.2')], { $sum: '$a' }, 238, 'refused by name: Decimal128 arithmetic'],
  [[int(1), int(2)], { $avg: '$a' }, double(1.5), '$avg: a double'],
  [[int(2), undefined, null, 'x', int(4)], { $avg: '$a' }, double(3), '$avg: ignores non-numeric values'],
  [[undefined, 'x'], { $avg: '$a' }, null, '$avg: null of no numbers'],
  [[long(MAX_LONG), long(MAX_LONG)], { $avg: '$a' }, double(2 ** 63), '$avg: no overflow'],
  [Array(10).fill(double(0.1)), { $avg: '$a' }, double(0.1), 'summation.h: compensated'],
  [[decimal('1')], { $avg: '$a' }, 238, 'refused by name: Decimal128 arithmetic'],
  [[int(3), undefined, null, int(1)], { $min: '$a' }, int(1), '$min: ignores null and missing'],
  [[int(3), undefined, null, int(1)], { $max: '$a' }, int(3), '$max: ignores null and missing'],
  [[undefined, null], { $max: '$a' }, null, '$max: null of nothing'],
  [[int(99), 'x', false], { $max: '$a' }, false, '$max: by BSON order across types'],
  [[int(99), 'x', false], { $min: '$a' }, int(99), '$min: by BSON order across types'],
  [[[int(1), int(9)], int(5)], { $max: '$a' }, [int(1), int(9)], '$max: an array is one value'],
  [
    [long('9007199254740993'), double(9007199254740992)],
    { $max: '$a' },
    long('9007199254740993'),
    '$max: exact beyond 2^53',
  ],
  [
    [long('9007199254740993'), long('10000000000000000')],
    { $max: '$a' },
    long('10000000000000000'),
    '$max: by value, not by digits',
  ],
  [[decimal('0.1'), double(0.1)], { $max: '$a' }, double(0.1), '$max: 0.1 as a double is above 0.1'],
  [[decimal('2'), int(10)], { $max: '$a' }, int(10), '$max: Decimal128 by value'],
  [[int(1), undefined, null, int(1)], { $push: '$a' }, [int(1), null, int(1)], '$push: no missing values'],
  [[[int(1)], [int(2)]], { $push: '$a' }, [[int(1)], [int(2)]], '$push: arrays as elements'],
  [
    [int(1), undefined],
    { $push: { x: '$a', y: '$_id' } },
    [{ x: int(1), y: int(0) }, { y: int(1) }],
    '$push: an expression object leaves missing fields out',
  ],
  [
    [int(1), double(1), long('1'), 'x', undefined, null, null],
    { $addToSet: '$a' },
    [int(1), 'x', null],
    '$addToSet: equal across number types, no missing',
  ],
  [
    [
      { a: int(1), b: int(2) },
      { b: int(2), a: int(1) },
      { a: int(1), b: int(2) },
    ],
    { $addToSet: '$a' },
    [
      { a: int(1), b: int(2) },
      { b: int(2), a: int(1) },
    ],
    '$addToSet: documents with the fields in another order differ',
  ],
  [[int(1)], { $sum: ['$a', '$a'] }, 40237, 'accumulation_statement.cpp: unary'],
  [[int(1)], { $first: '$a' }, 238, 'refused by name'],
  [[int(1)], { $stdDevPop: '$a' }, 238, 'refused by name'],
  [[int(1)], { $accumulator: {} }, 238, 'refused by name'],
];

/** The values `a` of some documents, a group key and the keys that come out, each with its number of documents. */
const keys: [values: unknown[], id: unknown, expected: [unknown, number][] | number, source: string][] = [
  [
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 2 },
    ],
    '$a',
    [
      [{ a: int(1), b: int(2) }, 2],
      [{ b: int(2), a: int(1) }, 1],
    ],
    '$group: documents with the fields in another order differ',
  ],
  [
    [undefined, null, int(0)],
    '$a',
    [
      [null, 2],
      [int(0), 1],
    ],
    '$group: missing and null are one group',
  ],
  [
    [undefined, null],
    { a: '$a', b: int(1) },
    [
      [{ b: int(1) }, 1],
      [{ a: null, b: int(1) }, 1],
    ],
    'group_processor_base.cpp: a missing field stays missing',
  ],
  [[undefined, null], { a: '$a' }, [[{ a: null }, 2]], 'group_processor_base.cpp: but not the only field'],
  [[int(1), double(1), long('1'), decimal('1')], '$a', [[int(1), 4]], '$group: equal across number types'],
  [
    [long('9007199254740993'), double(9007199254740992), long('9007199254740993')],
    '$a',
    [
      [long('9007199254740993'), 2],
      [double(9007199254740992), 1],
    ],
    '$group: exact beyond 2^53',
  ],
  [
    [[int(1), int(2)], [int(2), int(1)], int(1)],
    '$a',
    [
      [[int(1), int(2)], 1],
      [[int(2), int(1)], 1],
      [int(1), 1],
    ],
    '$group: an array is one value',
  ],
  [[int(1), 'x'], null, [[null, 2]], '$group: a null key makes one group'],
  [[int(1), 'x'], int(7), [[int(7), 2]], '$group: a constant key makes one group'],
  [
    [[{ b: int(1) }, { b: int(2) }, int(5), {}, [{ b: int(9) }]], { b: int(1) }, int(5)],
    '$a.b',
    [
      [[int(1), int(2)], 1],
      [int(1), 1],
      [null, 1],
    ],
    'Field Paths: of an array, the values of its documents',
  ],
  [
    [[int(8), int(9)], { 0: int(8) }],
    '$a.0',
    [
      [[], 1],
      [int(8), 1],
    ],
    'expression.cpp: no array positions',
  ],
];

const EXPR = '$expr';

/** Documents with ids 0, 1, …, an expression, and the ids it finds with $expr. */
const expressions: [
  documents: Document[],
  expression: unknown,
  expected: number[] | number,
  source: string,
][] = [
  [[{}, { a: null }, { a: 1 }], { $lt: ['$a', null] }, [0], 'Comparison Order: missing is below null'],
  [[{}, { a: null }, { a: 1 }], { $eq: ['$a', null] }, [1], '$eq: missing is not null'],
  [[{}, { a: null }, { a: 1 }], { $gt: ['$a', null] }, [2], '$gt: across types'],
  [[{}, { a: null }, { a: 1 }], { $lte: ['$a', null] }, [0, 1], '$lte'],
  [[{}, { a: null }, { a: 1 }], { $gte: ['$a', null] }, [1, 2], '$gte'],
  [[{}, { a: null }, { a: 1 }], { $ne: ['$a', 1] }, [0, 1], '$ne'],
  [[{ a: 'x' }, { a: 5 }, { a: [1] }], { $gt: ['$a', 7] }, [0, 2], '$gt: by type first, arrays as a whole'],
  [
    [{ a: long('9007199254740993') }, { a: double(9007199254740992) }, { a: long('10000000000000000') }],
    { $gt: ['$a', long('9007199254740992')] },
    [0, 2],
    '$gt: exact beyond 2^53',
  ],
  [
    [{ a: decimal('0.1') }, { a: double(0.1) }, { a: decimal('9') }, { a: 10 }],
    { $gt: ['$a', decimal('0.1')] },
    [1, 2, 3],
    '$gt: Decimal128 by value',
  ],
  [[{ a: decimal('1.0') }, { a: 1 }, { a: '1' }], { $eq: ['$a', long('1')] }, [0, 1], '$eq: by value'],
  [
    [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }],
    { $eq: ['$a', { x: 1, y: 2 }] },
    [0],
    '$eq: documents field by field',
  ],
  [[{ a: new Date(5) }, { a: new Date(7) }], { $gte: ['$a', new Date(7)] }, [1], '$gte: dates'],
  [
    [
      { a: { b: 3 }, b: 2 },
      { a: { b: 1 }, b: 2 },
    ],
    { $gt: ['$a.b', '$b'] },
    [0],
    EXPR,
  ],
  [
    [{ a: 0 }, { a: null }, {}, { a: false }, { a: '' }, { a: [] }],
    '$a',
    [4, 5],
    'Boolean Expressions: truth',
  ],
  [
    [
      { a: 1, b: 0 },
      { a: 1, b: 1 },
    ],
    { $and: ['$a', '$b'] },
    [1],
    '$and',
  ],
  [[{}], { $and: [] }, [0], '$and: true of nothing'],
  [
    [
      { a: 1, b: 0 },
      { a: 0, b: 0 },
    ],
    { $or: ['$a', '$b'] },
    [0],
    '$or',
  ],
  [[{}], { $or: [] }, [], '$or: false of nothing'],
  [[{ a: 1 }, {}], { $not: ['$a'] }, [1], '$not'],
  [[{ a: 1 }, {}], { $not: '$a' }, [1], '$not: one operand needs no array'],
  [[{ a: 1, b: 1 }, { b: 1 }], { $cond: ['$a', false, '$b'] }, [1], '$cond'],
  [
    [{ a: 1, b: 1 }, { b: 1 }],
    { $cond: JSON.parse('{"if":"$a","then":false,"else":"$b"}') },
    [1],
    '$cond: named',
  ],
  [[{ a: null }, { a: 0 }, { b: 2 }], { $ifNull: ['$a', '$b', 1] }, [0, 2], '$ifNull: the first not null'],
  [[{ a: '$b', b: 1 }], { $eq: ['$a', { $literal: '$b' }] }, [0], '$literal'],
  [[{ a: 1 }], { $eq: ['$$ROOT.a', 1] }, [0], 'Variables: $$ROOT'],
  [
    [{ a: 1 }, {}],
    {
      $eq: [
        ['$a', '$z'],
        [1, null],
      ],
    },
    [0],
    'Expressions: missing is null in an array',
  ],
  [[], { $gt: ['$a'] }, 16020, 'expression.h: two operands'],
  [[], { $cond: JSON.parse('{"if":1,"then":2}') }, 17082, '$cond: needs else'],
  [[], { $cond: JSON.parse('{"then":2,"else":3}') }, 17080, '$cond: needs if'],
  [[], { $cond: JSON.parse('{"if":1,"else":3}') }, 17081, '$cond: needs then'],
  [[], { $cond: JSON.parse('{"if":1,"then":2,"else":3,"elif":4}') }, 17083, '$cond: no other parameter'],
  [[], { $ifNull: ['$a'] }, 1257300, '$ifNull: at least two'],
  [[], { $gt: ['$a', 1], $lt: ['$a', 2] }, 15983, 'expression.cpp: one operator'],
  [[], { $eq: ['$', 1] }, 16872, 'expression.cpp'],
  [[], { $eq: ['$a.$b', 1] }, 16410, 'field_path.cpp'],
  [[], { $eq: ['$$NOW', 1] }, 238, 'refused by name'],
  [[], { $regexMatch: { input: '$a', regex: 'x' } }, 238, 'refused by name'],
  [[], { $and: [{ $cond: [1, { $dateTrunc: {} }, 2] }] }, 238, 'refused by name, however deep'],
  [[], { $function: { body: 'x', args: [], lang: 'js' } }, 238, 'refused by name'],
];

/** Stages by themselves, over `{_id: 1, a: 1, b: {x: 1, y: 2}, c: [{x: 1}, 5]}`. */
const stages: [stage: Document, expected: unknown, source: string][] = [
  [{ $project: { a: 1 } }, [{ _id: int(1), a: int(1) }], '$project: inclusion'],
  [{ $project: { 'b.x': 1, _id: 0 } }, [{ b: { x: int(1) } }], '$project: dotted'],
  [{ $project: { c: { x: true } } }, [{ _id: int(1), c: [{ x: int(1) }] }], '$project: nested'],
  [{ $project: { b: 0, c: 0 } }, [{ _id: int(1), a: int(1) }], '$project: exclusion'],
  [{ $project: {} }, 51272, '$project: at least one field'],
  [{ $project: { a: 1, b: 0 } }, 31254, '$project: inclusion or exclusion'],
  [{ $project: { d: { $add: ['$a', 1] } } }, 238, 'refused by name'],
  [{ $project: { d: '$a' } }, 238, 'refused by name'],
  [{ $project: { c: { $slice: 1 } } }, 238, 'refused by name: $slice of find is another operator here'],
  [{ $project: { 'c.$': 1 } }, 16410, '$project: no positional operator'],
  [{ $count: 'n' }, [{ n: int(1) }], '$count'],
  [{ $count: '$n' }, 40158, '$count: not a field path'],
  [{ $count: '' }, 40157, '$count: not empty'],
  [{ $count: 'a.b' }, 40160, '$count: no dots'],
  [{ $sort: { $natural: -1 } }, 16410, '$sort: no $natural'],
  [{ $sort: {} }, 15976, '$sort: needs a key'],
  [{ $skip: -1 }, 5107200, '$skip: not below 0'],
  [{ $limit: 0 }, 15958, '$limit: above 0'],
  [{ $group: { n: { $sum: 1 } } }, 15955, '$group: needs _id'],
  [{ $group: { _id: null, n: 1 } }, 40234, '$group: an accumulator object'],
  [{ $group: { _id: null, n: { $sum: 1, $avg: 1 } } }, 40238, '$group: one accumulator'],
  [{ $group: { _id: null, 'a.b': { $sum: 1 } } }, 40235, '$group: no dots'],
  [{ $lookup: { from: 'c', as: 'd', localField: 'a' } }, 9, '$lookup: both fields or none'],
  [{ $lookup: { from: 'c', as: 'd', pipeline: [] } }, 238, 'refused by name: $lookup without fields'],
  [
    { $lookup: { from: 'c', as: 'd', localField: 'a', foreignField: 'a', let: { x: 1 } } },
    238,
    'refused by name',
  ],
  [{ $lookup: { from: 'c', as: 'd', localField: 'a', foreignField: 'a', x: 1 } }, 9, '$lookup: x is unknown'],
  [{ $lookup: { from: 1, as: 'd', localField: 'a', foreignField: 'a' } }, 9, '$lookup: from is a string'],
  [{ $lookup: { from: 'c', localField: 'a', foreignField: 'a' } }, 9, '$lookup: as is a string'],
  [{ $nope: 1 }, 40324, 'pipeline.cpp'],
  [{ $match: {}, $count: 'n' }, 40323, 'pipeline.cpp'],
];

/** Stages one after another, over `{_id: 1, a: 1}` to `{_id: 6, a: 1}` with 1, 2, 3, 1, 2, 1 as `a`. */
const pipelines: [pipeline: Document[], ids: unknown[]][] = [
  [
    [{ $skip: 1 }, { $limit: 2 }],
    [2, 3],
  ],
  [
    [{ $limit: 3 }, { $skip: 1 }],
    [2, 3],
  ],
  [
    [{ $skip: 1 }, { $skip: 2 }],
    [4, 5, 6],
  ],
  [
    [{ $limit: 3 }, { $limit: 2 }],
    [1, 2],
  ],
  [
    [{ $limit: 2 }, { $limit: 3 }],
    [1, 2],
  ],
  [[{ $skip: 6 }], []],
  [[{ $skip: 0 }, { $limit: 1 }], [1]],
  [
    [{ $limit: 3 }, { $match: { a: { $gt: 1 } } }],
    [2, 3],
  ],
  [
    [{ $match: { a: 1 } }, { $match: { _id: { $gt: 1 } } }],
    [4, 6],
  ],
  [[{ $match: { a: 1 } }, { $skip: 1 }, { $match: { _id: { $gt: 4 } } }], [6]],
  [
    [{ $sort: { _id: -1 } }, { $match: { a: 1 } }, { $limit: 2 }],
    [6, 4],
  ],
  [
    [{ $limit: 3 }, { $sort: { _id: -1 } }],
    [3, 2, 1],
  ],
  [
    [{ $sort: { a: 1, _id: -1 } }, { $sort: { _id: 1 } }, { $limit: 2 }],
    [1, 2],
  ],
  [
    [{ $skip: 1 }, { $sort: { a: -1, _id: 1 } }, { $skip: 1 }, { $limit: 2 }],
    [2, 5],
  ],
  [[{ $limit: 4 }, { $count: '_id' }], [4]],
  [[{ $skip: 1 }, { $count: '_id' }], [5]],
  [[{ $count: '_id' }, { $match: { _id: { $type: 'int' } } }], [6]],
  [[{ $group: { _id: '$a' } }, { $count: '_id' }], [3]],
  [
    [{ $group: { _id: '$a' } }, { $sort: { _id: -1 } }, { $limit: 2 }],
    [3, 2],
  ],
  [[{ $match: { a: 9 } }, { $count: '_id' }], []],
  [[{ $limit: 1 }, { $match: { a: 9 } }, { $count: '_id' }], []],
  [[{ $match: { a: 9 } }, { $group: { _id: 1, n: { $sum: 1 } } }], []],
  [[{ $match: { a: 1 } }, { $project: { _id: 0, a: 1 } }, { $match: { _id: null } }, { $count: '_id' }], [3]],
];

const REFUSED = [
  'addFields bucket bucketAuto collStats currentOp densify documents facet fill geoNear graphLookup indexStats',
  'merge out redact replaceRoot replaceWith sample search set setWindowFields sortByCount unionWith unset unwind',
].flatMap((names) => names.split(' ').map((name) => `$${name}`));

describe('embedded database: aggregation', () => {
  let engine: Engine;
  beforeEach(() => {
    engine = buildEngine();
  });
  afterEach(() => engine.close());

  const insert = (documents: Document[], collection = 'c') =>
    runCommand(engine, { insert: collection, documents });
  const withValues = (values: unknown[]) =>
    insert(values.map((a, _id) => (a === undefined ? { _id } : { _id, a })));

  for (const [i, [values, accumulator, expected, source]] of accumulators.entries())
    it(`accumulator ${i + 1}: ${source} (${Object.keys(accumulator)[0]})`, async () => {
      await withValues(values);
      const result = await aggregate(engine, [
        { $sort: { _id: 1 } },
        { $group: { _id: null, result: accumulator } },
      ]);
      expect(result).to.deep.equal(
        typeof expected === 'number' ? expected : [{ _id: null, result: expected }],
      );
    });

  for (const [i, [values, id, expected, source]] of keys.entries())
    it(`group key ${i + 1}: ${source}`, async () => {
      await withValues(values);
      const result = await aggregate(engine, [
        { $group: { _id: id, n: { $sum: 1 }, ids: { $push: '$_id' } } },
      ]);
      if (!Array.isArray(expected)) return expect(result).to.equal(expected);
      const found = (result as Document[]).map(({ _id, n }) => [_id, Number(n)]);
      return expect(found).to.deep.equal(expected);
    });

  for (const [i, [documents, expression, expected, source]] of expressions.entries())
    it(`expression ${i + 1}: ${source}`, async () => {
      if (documents.length > 0) await insert(documents.map((document, _id) => ({ _id, ...document })));
      const found = await find(engine, 'c', { filter: { $expr: expression }, sort: { _id: 1 } }).catch(
        (error: CommandFailure) => error,
      );
      const result = found instanceof CommandFailure ? found.reply.code : found.map(({ _id }) => _id);
      expect(result).to.deep.equal(expected);
    });

  for (const [i, [stage, expected, source]] of stages.entries())
    it(`stage ${i + 1}: ${source} (${Object.keys(stage)[0]})`, async () => {
      await insert([{ _id: 1, a: 1, b: { x: 1, y: 2 }, c: [{ x: 1 }, 5] }]);
      expect(await aggregate(engine, [stage])).to.deep.equal(expected);
      // A wrong pipeline is refused before anything is read, so an empty collection changes nothing.
      if (typeof expected === 'number') expect(await aggregate(engine, [stage], 'none')).to.equal(expected);
    });

  for (const [pipeline, ids] of pipelines)
    it(`${JSON.stringify(pipeline)}`, async () => {
      await insert([1, 2, 3, 1, 2, 1].map((a, i) => ({ _id: i + 1, a })));
      const found = (await aggregate(engine, pipeline)) as Document[];
      expect(found.map(({ _id }) => Number(_id))).to.deep.equal(ids);
      expect(await aggregate(engine, pipeline, 'none')).to.deep.equal([]);
    });

  it('counts as countDocuments asks, under any constant key', async () => {
    await insert([1, 2, 3, 1, 2, 1].map((a, i) => ({ _id: i + 1, a })));
    const count = (group: Document) => aggregate(engine, [{ $match: { a: 1 } }, { $group: group }]);
    expect(await count({ _id: null, n: { $sum: 1 } })).to.deep.equal([{ _id: null, n: int(3) }]);
    expect(await count({ _id: 7, n: { $sum: 1 } })).to.deep.equal([{ _id: int(7), n: int(3) }]);
    expect(await count({ _id: 'x', n: { $sum: 1 } })).to.deep.equal([{ _id: 'x', n: int(3) }]);
    expect(await count({ _id: 7, n: { $sum: 2 } })).to.deep.equal([{ _id: int(7), n: int(6) }]);
    expect(await count({ _id: 7, m: { $sum: 1 } })).to.deep.equal([{ _id: int(7), m: int(3) }]);
    expect(await count({ _id: 7, n: { $sum: 1 }, m: { $max: '$_id' } })).to.deep.equal([
      { _id: int(7), n: int(3), m: int(6) },
    ]);
  });

  for (const stage of REFUSED)
    it(`${stage} is refused by name, also inside $lookup`, async () => {
      const lookup = { from: 'c', localField: 'a', foreignField: 'a', as: 'b', pipeline: [{ [stage]: {} }] };
      for (const pipeline of [[{ [stage]: {} }], [{ $lookup: lookup }]]) {
        const failure = await runCommand(engine, { aggregate: 'c', pipeline, cursor: {} }).catch(
          (error: CommandFailure) => error,
        );
        expect((failure as CommandFailure).reply).to.deep.include({ code: 238 });
        expect((failure as CommandFailure).message).to.contain(stage);
      }
    });

  it('keeps the types of numbers through every stage', async () => {
    const document = { _id: int(1), a: double(1), b: long('1'), c: decimal('1.0'), d: long(MAX_LONG) };
    await insert([document]);
    expect(await aggregate(engine, [{ $match: {} }, { $limit: 5 }])).to.deep.equal([document]);
    expect(await aggregate(engine, [{ $group: { _id: null, all: { $push: '$$ROOT' } } }])).to.deep.equal([
      { _id: null, all: [document] },
    ]);
  });

  it('$lookup joins as equality does: jstests/aggregation/sources/lookup/lookup_equijoin_semantics.js', async () => {
    const locals: [local: unknown, matched: number[]][] = [
      [undefined, [0, 1, 2]],
      [null, [0, 1, 2]],
      [[], [0, 1, 2]],
      [1, [3, 4]],
      [long('1'), [3, 4]],
      [
        [1, 5],
        [3, 4, 5],
      ],
      [[[1, 5]], [4]],
      [{ $gt: 1 }, [6]],
      [/x/, [7]],
    ];
    const foreign = [undefined, null, [null, 9], 1, [[1, 5], 1], 5, { $gt: 1 }, /x/, 'x'];
    await insert(
      foreign.map((b, _id) => (b === undefined ? { _id } : { _id, b })),
      'f',
    );
    for (const indexed of [false, true]) {
      if (indexed) await runCommand(engine, { createIndexes: 'f', indexes: [{ key: { b: 1 }, name: 'b' }] });
      for (const [i, [a, matched]] of locals.entries()) {
        await runCommand(engine, { drop: 'c' });
        await insert([a === undefined ? { _id: i } : { _id: i, a }]);
        const lookup = {
          from: 'f',
          localField: 'a',
          foreignField: 'b',
          as: 'f',
          pipeline: [{ $sort: { _id: 1 } }],
        };
        const [result] = (await aggregate(engine, [{ $lookup: lookup }])) as [{ f: Document[] }];
        expect(
          result.f.map(({ _id }) => Number(_id)),
          `local ${JSON.stringify(a)}, indexed: ${indexed}`,
        ).to.deep.equal(matched);
      }
    }
  });

  it('$lookup takes the values of every element on its path, and null only where there are none', async () => {
    await insert([
      { _id: 1, a: [{ x: 1 }, { no: 1 }] },
      { _id: 2, a: [{ no: 1 }] },
      { _id: 3, a: 5 },
    ]);
    await insert([{ _id: 1, b: 1 }, { _id: 2 }], 'f');
    const lookup = { from: 'f', localField: 'a.x', foreignField: 'b', as: 'in.f' };
    const results = (await aggregate(engine, [{ $sort: { _id: 1 } }, { $lookup: lookup }])) as {
      in: { f: Document[] };
    }[];
    expect(results.map((result) => result.in.f.map(({ _id }) => Number(_id)))).to.deep.equal([[1], [2], [2]]);
  });

  it('$expr stands only at the top of a filter', async () => {
    const failure = await find(engine, 'c', { filter: { a: { $elemMatch: { b: 1, $expr: true } } } }).catch(
      (error: CommandFailure) => error,
    );
    expect((failure as CommandFailure).reply).to.deep.include({ code: 2 });
  });
});
