import { type Probe, probe } from './update-probe.js';

const arrays: Probe[] = [
  [{ a: [1] }, { $push: { a: { $each: [1], $foo: 1 } } }, 238, 'refused by name: another clause'],
  [{ a: [1] }, { $push: { a: { $foo: 1 } } }, 2, '$push: a clause without $each'],
  [{ a: [1] }, { $addToSet: { a: { $each: 2 } } }, 2, '$each: an array'],
  ...[{ $slice: 1 }, { $sort: 1 }].map(
    (clause): Probe => [{ a: [1] }, { $push: { a: { $each: [2], ...clause } } }, 238, 'refused by name'],
  ),
  [{ a: [1] }, { $push: { a: 2 } }, { a: [1, 2] }, '$push'],
  [{}, { $push: { a: 2 } }, { a: [2] }, '$push: adds a missing field'],
  [{ a: 1 }, { $push: { a: 2 } }, 2, '$push: fails on a field that is no array'],
  [{ a: null }, { $push: { a: 2 } }, 2, '$push: fails on a field that is no array'],
  [{ a: [1] }, { $push: { a: [2, 3] } }, { a: [1, [2, 3]] }, '$push: an array as a single element'],
  [{ a: [1] }, { $push: { a: { $each: [2, 3] } } }, { a: [1, 2, 3] }, '$each'],
  [{ a: [1] }, { $push: { a: { $each: [] } } }, { a: [1] }, '$each: empty'],
  [{ a: [1] }, { $push: { a: { $each: 2 } } }, 2, '$each: an array'],
  [{ a: [1, 2] }, { $push: { a: { $each: [9], $position: 0 } } }, { a: [9, 1, 2] }, '$position'],
  [{ a: [1, 2] }, { $push: { a: { $each: [8, 9], $position: 1 } } }, { a: [1, 8, 9, 2] }, '$position'],
  [
    { a: [1, 2, 3] },
    { $push: { a: { $each: [9], $position: -1 } } },
    { a: [1, 2, 9, 3] },
    '$position: negative',
  ],
  [
    { a: [1, 2] },
    { $push: { a: { $each: [9], $position: 50 } } },
    { a: [1, 2, 9] },
    '$position: beyond the end',
  ],
  [{ a: [{ b: [1] }] }, { $push: { 'a.0.b': 2 } }, { a: [{ b: [1, 2] }] }, '$push: dot notation'],
  [{ a: [1, 2] }, { $addToSet: { a: 2 } }, { a: [1, 2] }, '$addToSet: value already exists'],
  [{ a: [1, 2] }, { $addToSet: { a: 3 } }, { a: [1, 2, 3] }, '$addToSet'],
  [{}, { $addToSet: { a: 3 } }, { a: [3] }, '$addToSet: missing field'],
  [{ a: 'x' }, { $addToSet: { a: 3 } }, 2, '$addToSet: field is not an array'],
  [
    { a: ['a', 'b'] },
    { $addToSet: { a: ['c', 'd'] } },
    { a: ['a', 'b', ['c', 'd']] },
    '$addToSet: value is an array',
  ],
  [{ a: ['a'] }, { $addToSet: { a: { $each: ['a', 'b', 'b'] } } }, { a: ['a', 'b'] }, '$addToSet: $each'],
  [
    { a: [{ x: 1, y: 2 }] },
    { $addToSet: { a: { y: 2, x: 1 } } },
    {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
    '$addToSet: field order matters',
  ],
  [
    { a: [1, 1] },
    { $addToSet: { a: 2 } },
    { a: [1, 1, 2] },
    '$addToSet: does not affect existing duplicates',
  ],
  [{ a: [1, 2, 3] }, { $pop: { a: 1 } }, { a: [1, 2] }, '$pop: the last'],
  [{ a: [1, 2, 3] }, { $pop: { a: -1 } }, { a: [2, 3] }, '$pop: the first'],
  [{ a: [] }, { $pop: { a: 1 } }, { a: [] }, '$pop: an empty array stays'],
  [{}, { $pop: { a: 1 } }, {}, '$pop: a missing field is no change'],
  [{ a: 1 }, { $pop: { a: 1 } }, 2, '$pop: fails on a field that is no array'],
  [{ a: [1] }, { $pop: { a: 2 } }, 9, '$pop: 1 or -1'],
  [{ a: [1] }, { $pop: { a: 'x' } }, 9, '$pop: a number'],
  [{ a: [[1, 2], 3] }, { $pop: { 'a.0': 1 } }, { a: [[1], 3] }, '$pop: dot notation'],
  [{ a: 1 }, { $pop: { 'a.b': 1 } }, { a: 1 }, '$pop: a path through a scalar is no change'],
  [{ a: [2, 1] }, { $push: { a: { $each: [3], $position: 'x' } } }, 2, '$position: an integer'],
  [{ a: [[1, 2], [3]] }, { $pull: { 'a.0': 1 } }, { a: [[2], [3]] }, '$pull: dot notation'],
  [{ a: 1 }, { $pull: { 'a.b': 1 } }, { a: 1 }, '$pull: a path through a scalar is no change'],
  [{ a: 1 }, { $pullAll: { a: [1] } }, 2, '$pullAll: fails on a field that is no array'],
  [
    { a: ['apples', 'pears', 'oranges'] },
    { $pull: { a: { $in: ['apples', 'oranges'] } } },
    { a: ['pears'] },
    '$pull: condition',
  ],
  [{ a: ['x', 'y', 'x'] }, { $pull: { a: 'x' } }, { a: ['y'] }, '$pull: all instances'],
  [{ a: [3, 5, 6, 7, 7, 8] }, { $pull: { a: { $gte: 6 } } }, { a: [3, 5] }, '$pull: condition'],
  [
    {
      a: [
        { item: 'A', score: 5 },
        { item: 'B', score: 8, comment: 'x' },
      ],
    },
    { $pull: { a: { score: 8, item: 'B' } } },
    { a: [{ item: 'A', score: 5 }] },
    '$pull: Remove Items from an Array of Documents',
  ],
  [
    {
      a: [
        [1, 2],
        [2, 1],
      ],
    },
    { $pull: { a: [1, 2] } },
    { a: [[2, 1]] },
    '$pull: an array matches exactly, including order',
  ],
  [{ a: 1 }, { $pull: { a: 1 } }, 2, '$pull: fails on a field that is no array'],
  [{ a: [{ x: 1 }] }, { $pull: { a: { $or: [{ x: 1 }] } } }, 238, 'refused by name: $or of elements'],
  [{}, { $pull: { a: 1 } }, {}, '$pull: a missing field is no change'],
  [{ a: [0, 2, 5, 5, 1, 0] }, { $pullAll: { a: [0, 5] } }, { a: [2, 1] }, '$pullAll'],
  [
    { a: [{ x: 1, y: 2 }] },
    { $pullAll: { a: [{ y: 2, x: 1 }] } },
    { a: [{ x: 1, y: 2 }] },
    '$pullAll: documents match exactly, including order',
  ],
  [{ a: [1] }, { $pullAll: { a: 1 } }, 2, '$pullAll: an array'],
];

describe('embedded database: what updates do to arrays', () => {
  it(`${arrays.length} probes`, () => probe(arrays));
});
