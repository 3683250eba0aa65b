import { Double, Int32, Long } from 'bson';
import { expect } from 'chai';
import type { Document } from '../../src/values/bson-types.js';
import { useEngine } from '../support/run-command.js';

const long = (value: number) => Long.fromNumber(value);
const int = (value: number) => new Int32(value);
const double = (value: number) => new Double(value);

/** The values `a` of the documents of one group (undefined: missing), an accumulator and its result. */
const accumulators: [values: unknown[], accumulator: unknown, expected: unknown, source: string][] = [
  [[int(1), int(2)], { $sum: '$a' }, int(3), '$sum: the type of its widest operand'],
  [[int(1), long(2)], { $sum: '$a' }, long(3), '$sum'],
  [[long(2), int(1)], { $sum: '$a' }, long(3), '$sum'],
  [[int(1), double(2), long(1)], { $sum: '$a' }, double(4), '$sum'],
  [[int(2 ** 31 - 1), int(1)], { $sum: '$a' }, long(2 ** 31), '$sum: an int that overflows is a long'],
  [[int(-(2 ** 31)), int(-1)], { $sum: '$a' }, long(-(2 ** 31) - 1), '$sum: an int that overflows is a long'],
  [[long(2 ** 53 - 1), int(1)], { $sum: '$a' }, 238, 'refused by name: an integer beyond 2^53'],
  [[undefined, null, 'x', [int(5)], {}, true], { $sum: '$a' }, int(0), '$sum: ignores non-numeric values'],
  [[int(1), 'x', int(2)], { $sum: '$a' }, int(3), '$sum: ignores non-numeric values'],
  [[int(1), int(2)], { $sum: int(2) }, int(4), '$sum: a constant'],
  [[int(1), undefined, null, int(1)], { $push: '$a' }, [int(1), null, int(1)], '$push: no missing values'],
  [[[int(1)], [int(2)]], { $push: '$a' }, [[int(1)], [int(2)]], '$push: arrays as elements'],
  [
    [int(1), undefined],
    { $push: { x: '$a', y: '$_id' } },
    [{ x: int(1), y: int(0) }, { y: int(1) }],
    '$push: an expression object leaves missing fields out',
  ],
  ...['$first', '$avg', '$max', '$addToSet', '$accumulator'].map(
    (name): [unknown[], unknown, number, string] => [[int(1)], { [name]: '$a' }, 238, 'refused by name'],
  ),
  [[int(1)], { $sum: ['$a', '$a'] }, 238, 'refused by name: an array of expressions'],
  [[int(1)], int(1), 40234, '$group: an accumulator object'],
  [[int(1)], {}, 40234, '$group: an accumulator object'],
  [[int(1)], { $sum: 1, $push: 1 }, 40234, '$group: one accumulator'],
];

/** The values `a` of some documents, a group key and the keys that come out, each with its number of documents. */
const keys: [values: unknown[], id: unknown, expected: [unknown, number][], source: string][] = [
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
  [[int(1)], {}, [[{}, 1]], '$group: an empty key'],
  [[int(1), double(1), long(1)], '$a', [[int(1), 3]], '$group: equal across number types'],
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
  [[int(1), 'x'], 'x', [['x', 2]], '$group: a constant key makes one group'],
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

const at = (condition: unknown) => ({ $cond: [condition, 'yes', 'no'] });

/** An expression over `{a: 5, b: {c: 6}, d: null}` and its value, or the code it is refused with. */
const expressions: [expression: unknown, expected: unknown, source: string][] = [
  ['$a', int(5), 'Field Paths'],
  ['$b.c', int(6), 'Field Paths'],
  ['a', 'a', 'a constant'],
  [at({ $gt: ['$a', 4] }), 'yes', '$gt'],
  [at({ $gt: ['$a', 5] }), 'no', '$gt: not of equals'],
  [at({ $gt: ['x', '$b.c'] }), 'yes', '$gt: by type first'],
  [at({ $gt: ['$d', '$z'] }), 'yes', 'Comparison Order: missing is below null'],
  [at({ $gt: ['$z', '$d'] }), 'no', 'Comparison Order: missing is below null'],
  ...[int(0), double(0), long(0), false, null, '$z', '$d'].map((value): [unknown, string, string] => [
    at(value),
    'no',
    'Boolean Expressions: truth',
  ]),
  ...[int(1), double(-0.5), long(1), true, '', '$b', new Date(0)].map((value): [unknown, string, string] => [
    at(value),
    'yes',
    'Boolean Expressions: truth',
  ]),
  [{ $cond: [1, 2] }, 16020, 'expression.h: three operands'],
  [{ $cond: '$a' }, 16020, 'expression.h: three operands'],
  [{ $gt: ['$a'] }, 16020, 'expression.h: two operands'],
  [{ $gt: ['$a', 1, 2] }, 16020, 'expression.h: two operands'],
  [{ $gt: ['$a', 1], $cond: ['$a', 2, 3] }, 15983, 'expression.cpp: one operator'],
  ['$', 2, 'field_path.cpp'],
  ['$a..b', 2, 'field_path.cpp'],
  ['$a.$b', 16410, 'field_path.cpp'],
  ...['$$ROOT', '$$NOW.x', ['$a'], { $and: ['$a'] }, { $literal: 1 }, at({ $function: {} })].map(
    (expression): [unknown, number, string] => [expression, 238, 'refused by name, however deep'],
  ),
];

describe('embedded database: $group', () => {
  const { run, aggregate } = useEngine();

  const insert = (documents: Document[]) => run({ insert: 'c', documents });
  const withValues = (values: unknown[]) =>
    insert(values.map((a, _id) => (a === undefined ? { _id } : { _id, a })));

  for (const [i, [values, accumulator, expected, source]] of accumulators.entries())
    it(`accumulator ${i + 1}: ${source} (${JSON.stringify(accumulator)})`, async () => {
      await withValues(values);
      const group = { _id: null, result: accumulator };
      const result = await aggregate([{ $sort: { _id: 1 } }, { $group: group }]);
      expect(result).to.deep.equal(
        typeof expected === 'number' ? expected : [{ _id: null, result: expected }],
      );
    });

  for (const [i, [values, id, expected, source]] of keys.entries())
    it(`group key ${i + 1}: ${source}`, async () => {
      await withValues(values);
      const group = { _id: id, n: { $sum: 1 }, ids: { $push: '$_id' } };
      const found = ((await aggregate([{ $group: group }])) as Document[]).map(({ _id, n }) => [
        _id,
        Number(n),
      ]);
      expect(found).to.deep.equal(expected);
    });

  for (const [i, [expression, expected, source]] of expressions.entries())
    it(`expression ${i + 1}: ${source} (${JSON.stringify(expression)})`, async () => {
      await insert([{ _id: 1, a: 5, b: { c: 6 }, d: null }]);
      const result = await aggregate([{ $group: { _id: 1, all: { $push: expression } } }]);
      expect(result).to.deep.equal(
        typeof expected === 'number' ? expected : [{ _id: int(1), all: [expected] }],
      );
    });
});
