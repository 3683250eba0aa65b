import { Double, Int32, Long } from 'bson';
import { expect } from 'chai';
import type { Document } from '../../src/values/bson-types.js';
import { useEngine } from '../support/run-command.js';

/**
 * Aggregation against MongoDB's documented answers. Sources: the pages of the manual named by operator, and mongod's
 * own tests (jstests/…) and sources (src/…) where the manual is silent.
 */

const long = (value: number) => Long.fromNumber(value);
const int = (value: number) => new Int32(value);
const double = (value: number) => new Double(value);

const lookup = { from: 'c', as: 'd', localField: 'a', foreignField: 'a' };

/** Stages by themselves, over `{_id: 1, a: 1, b: {x: 1, y: 2}, c: [{x: 1}, 5]}`. */
const stages: [stage: Document, expected: unknown, source: string][] = [
  [{ $project: { a: 1 } }, [{ _id: int(1), a: int(1) }], '$project: inclusion'],
  [{ $project: { 'b.x': 1, _id: 0 } }, [{ b: { x: int(1) } }], '$project: dotted'],
  [{ $project: { b: 0, c: 0 } }, [{ _id: int(1), a: int(1) }], '$project: exclusion'],
  [{ $project: {} }, 51272, '$project: at least one field'],
  [{ $project: { a: 1, b: 0 } }, 31254, '$project: inclusion or exclusion'],
  [{ $project: { d: '$a' } }, 238, 'refused by name'],
  [{ $project: { 'c.$': 1 } }, 16410, '$project: no positional operator'],
  [{ $match: 1 }, 9, '$match: a filter'],
  [{ $sort: { $natural: -1 } }, 16410, '$sort: no $natural'],
  [{ $sort: {} }, 15976, '$sort: needs a key'],
  [{ $skip: -1 }, 5107200, '$skip: not below 0'],
  [{ $skip: 'x' }, 5107200, '$skip: a number'],
  [{ $limit: 0 }, 15958, '$limit: above 0'],
  [{ $limit: 1.5 }, 15958, '$limit: a whole number'],
  [{ $group: 1 }, 15947, '$group: an object'],
  [{ $group: { n: { $sum: 1 } } }, 15955, '$group: needs _id'],
  [{ $group: { _id: null, 'a.b': { $sum: 1 } } }, 40235, '$group: no dots'],
  [{ $group: { _id: null, $a: { $sum: 1 } } }, 40235, '$group: no operator names'],
  [{ $lookup: 1 }, 9, '$lookup: an object'],
  ...['from', 'as', 'localField', 'foreignField'].flatMap((field): [Document, number, string][] => [
    [{ $lookup: { ...lookup, [field]: 1 } }, 9, `$lookup: ${field} is a string`],
    [{ $lookup: { ...lookup, [field]: undefined } }, 9, `$lookup: ${field} is needed`],
  ]),
  [{ $lookup: { ...lookup, let: { x: 1 } } }, 238, 'refused by name'],
  [{ $lookup: { ...lookup, as: 'd.e' } }, 238, 'refused by name'],
  [{ $lookup: { ...lookup, pipeline: 1 } }, 14, '$lookup: an array'],
  [{ $match: {}, $limit: 1 }, 40323, 'pipeline.cpp'],
  [{}, 40323, 'pipeline.cpp'],
  ...['$count', '$unwind', '$addFields', '$facet', '$out', '$changeStream', '$nope'].map(
    (name): [Document, number, string] => [{ [name]: {} }, 238, 'refused by name'],
  ),
];

/** Stages one after another, over `{_id: 1, a: 1}` to `{_id: 6, a: 1}` with 1, 2, 3, 1, 2, 1 as `a`. */
const pipelines: [pipeline: Document[], ids: unknown[] | number][] = [
  [[], [1, 2, 3, 4, 5, 6]],
  [
    [{ $skip: 1 }, { $limit: 2 }],
    [2, 3],
  ],
  [[{ $skip: 6 }], []],
  [[{ $skip: 0 }, { $limit: 1 }], [1]],
  [
    [{ $match: { a: 1 } }, { $match: { _id: { $gt: 1 } } }],
    [4, 6],
  ],
  [
    [{ $match: { a: { $gt: 1 } } }, { $sort: { a: -1, _id: 1 } }, { $skip: 1 }, { $limit: 2 }],
    [2, 5],
  ],
  [
    [{ $sort: { a: 1, _id: -1 } }, { $limit: 2 }, { $project: { a: 0 } }],
    [6, 4],
  ],
  [
    [{ $limit: 5 }, { $group: { _id: '$a', n: { $sum: 1 } } }, { $project: { n: 1 } }],
    [1, 2, 3],
  ],
  [
    [{ $limit: 4 }, { $match: { a: 1 } }],
    [1, 4],
  ],
  [
    [
      { $sort: { _id: -1 } },
      { $skip: 1 },
      { $limit: 3 },
      { $match: { a: { $gt: 1 } } },
      { $project: { a: 1 } },
    ],
    [5, 3],
  ],
  [
    [{ $group: { _id: '$a', n: { $sum: 1 } } }, { $match: { n: { $gt: 1 } } }],
    [1, 2],
  ],
  [[{ $match: { a: 9 } }, { $group: { _id: 1, n: { $sum: 1 } } }], []],
  ...[
    [{ $limit: 3 }, { $skip: 1 }],
    [{ $sort: { a: 1 } }, { $sort: { _id: 1 } }],
    [{ $group: { _id: '$a' } }, { $sort: { _id: 1 } }],
    [{ $project: { a: 1 } }, { $limit: 1 }],
  ].map((pipeline): [Document[], number] => [pipeline, 238]),
];

describe('embedded database: aggregation', () => {
  const { run, failureOf, aggregate } = useEngine();

  const insert = (documents: Document[], collection = 'c') => run({ insert: collection, documents });

  for (const [i, [stage, expected, source]] of stages.entries())
    it(`stage ${i + 1}: ${source} (${JSON.stringify(stage)})`, async () => {
      await insert([{ _id: 1, a: 1, b: { x: 1, y: 2 }, c: [{ x: 1 }, 5] }]);
      expect(await aggregate([stage])).to.deep.equal(expected);
      if (typeof expected !== 'number') return;
      // A wrong pipeline is refused before anything is read, also inside $lookup.
      expect(await aggregate([stage], 'none')).to.equal(expected);
      expect(await aggregate([{ $lookup: { ...lookup, pipeline: [stage] } }])).to.equal(expected);
      const { errmsg } = await failureOf({ aggregate: 'c', pipeline: [stage], cursor: {} });
      if (expected === 238 && !source.includes('inside')) expect(errmsg).to.match(/'[a-z]|\$[a-z]/);
    });

  for (const [pipeline, expected] of pipelines)
    it(`${JSON.stringify(pipeline)}`, async () => {
      await insert([1, 2, 3, 1, 2, 1].map((a, i) => ({ _id: i + 1, a })));
      const found = await aggregate(pipeline);
      if (typeof expected === 'number') return expect(found).to.equal(expected);
      expect((found as Document[]).map(({ _id }) => Number(_id))).to.deep.equal(expected);
      return expect(await aggregate(pipeline, 'none')).to.deep.equal([]);
    });

  it('counts as countDocuments asks, under any constant key', async () => {
    await insert([1, 2, 3, 1, 2, 1].map((a, i) => ({ _id: i + 1, a })));
    const count = (group: Document) => aggregate([{ $match: { a: 1 } }, { $group: group }]);
    for (const [group, expected] of [
      [
        { _id: null, n: { $sum: 1 } },
        { _id: null, n: int(3) },
      ],
      [
        { _id: 7, n: { $sum: 1 } },
        { _id: int(7), n: int(3) },
      ],
      [
        { _id: 'x', n: { $sum: 1 } },
        { _id: 'x', n: int(3) },
      ],
      [
        { _id: 7, n: { $sum: 2 } },
        { _id: int(7), n: int(6) },
      ],
      [
        { _id: 7, m: { $sum: 1 } },
        { _id: int(7), m: int(3) },
      ],
      [
        { _id: 7, n: { $push: 1 } },
        { _id: int(7), n: [int(1), int(1), int(1)] },
      ],
      [
        { _id: 7, n: { $sum: 1 }, m: { $sum: '$_id' } },
        { _id: int(7), n: int(3), m: int(11) },
      ],
    ])
      expect(await count(group as Document)).to.deep.equal([expected]);
    const before = [{ $skip: 1 }, { $limit: 4 }];
    expect(await aggregate([...before, { $group: { _id: 1, n: { $sum: 1 } } }])).to.deep.equal([
      { _id: int(1), n: int(4) },
    ]);
  });

  it('keeps the types of numbers through every stage', async () => {
    const document = { _id: int(1), a: double(1), b: long(1), c: { d: [double(2)] } };
    await insert([document]);
    expect(await aggregate([{ $match: {} }, { $limit: 5 }])).to.deep.equal([document]);
    expect(await aggregate([{ $project: { z: 0 } }])).to.deep.equal([document]);
    const all = { a: '$a', b: '$b', c: '$c' };
    expect(await aggregate([{ $group: { _id: all } }])).to.deep.equal([
      { _id: { a: document.a, b: document.b, c: document.c } },
    ]);
  });

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: nested loops over a table of cases
  it('$lookup joins as equality does: jstests/aggregation/sources/lookup/lookup_equijoin_semantics.js', async () => {
    const locals: [local: unknown, matched: number[]][] = [
      [undefined, [0, 1]],
      [null, [0, 1]],
      [[], [0, 1]],
      [1, [2]],
      [long(1), [2]],
      [
        [1, 5],
        [2, 3],
      ],
      [
        [null, 5],
        [0, 1, 3],
      ],
      [{ $gt: 1 }, [4]],
      ['x', [5]],
    ];
    const foreign = [undefined, null, 1, 5, { $gt: 1 }, 'x'];
    await insert(
      foreign.map((b, _id) => (b === undefined ? { _id } : { _id, b })),
      'f',
    );
    for (const indexed of [false, true]) {
      if (indexed) await run({ createIndexes: 'f', indexes: [{ key: { b: 1 }, name: 'b' }] });
      for (const [i, [a, matched]] of locals.entries()) {
        await run({ drop: 'c' });
        await insert([a === undefined ? { _id: i } : { _id: i, a }]);
        const stage = { from: 'f', localField: 'a', foreignField: 'b', as: 'f' };
        for (const pipeline of [undefined, [{ $sort: { _id: 1 } }]]) {
          const [result] = (await aggregate([{ $lookup: pipeline ? { ...stage, pipeline } : stage }])) as [
            { f: Document[] },
          ];
          expect(
            result.f.map(({ _id }) => Number(_id)),
            `local ${JSON.stringify(a)}, indexed: ${indexed}`,
          ).to.have.members(matched);
        }
      }
    }
    expect(await aggregate([{ $lookup: { ...lookup, from: 'none' } }])).to.deep.equal([
      { _id: int(8), a: 'x', d: [] },
    ]);
  });

  it('$lookup takes the values of every element on its path, and null only where there are none', async () => {
    await insert([
      { _id: 1, a: [{ x: 1 }, { no: 1 }] },
      { _id: 2, a: [{ no: 1 }] },
      { _id: 3, a: 5 },
    ]);
    await insert([{ _id: 1, b: 1 }, { _id: 2 }], 'f');
    const stage = {
      from: 'f',
      localField: 'a.x',
      foreignField: 'b',
      as: 'a',
      pipeline: [{ $match: { _id: 1 } }],
    };
    const ids = async (pipeline?: Document[]) =>
      ((await aggregate([{ $lookup: { ...stage, pipeline } }])) as { a: Document[] }[]).map(({ a }) =>
        a.map(({ _id }) => Number(_id)),
      );
    expect(await ids()).to.deep.equal([[1], [2], [2]]);
    expect(await ids([{ $match: { _id: 1 } }, { $project: { b: 0 } }])).to.deep.equal([[1], [], []]);
  });

  it('a result above 16 MiB is refused', async () => {
    const text = 'x'.repeat(6 * 1024 * 1024);
    for (let _id = 0; _id < 3; _id++) await insert([{ _id, text }]);
    expect(await aggregate([{ $group: { _id: 1, all: { $push: '$text' } } }])).to.equal(10334);
    expect(
      await aggregate([{ $limit: 2 }, { $group: { _id: 1, all: { $push: '$text' } } }]),
    ).to.have.lengthOf(1);
  });
});
