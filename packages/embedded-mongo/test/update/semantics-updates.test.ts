import { Double, Int32, Long } from 'bson';
import { expect } from 'chai';
import { writeSlot } from '../../src/update/paths.js';
import type { Document } from '../../src/values/bson-types.js';
import { useEngine } from '../support/run-command.js';
import { type Probe, probe } from './update-probe.js';

const LEXICAL = 'update operator behavior: fields are processed in lexicographic order';

const fields: Probe[] = [
  [{ a: 1 }, { $set: { a: 2 } }, { a: 2 }, '$set'],
  [{ a: 1 }, { $set: { b: 2 } }, { a: 1, b: 2 }, '$set: adds a missing field'],
  [{}, { $set: { 'a.b.c': 1 } }, { a: { b: { c: 1 } } }, '$set: creates embedded documents'],
  [{ a: { x: 1 } }, { $set: { 'a.y': 2 } }, { a: { x: 1, y: 2 } }, '$set: Set Fields in Embedded Documents'],
  [{ a: [1, 2, 3] }, { $set: { 'a.1': 9 } }, { a: [1, 9, 3] }, '$set: Set Elements in Arrays'],
  [{ a: [1] }, { $set: { 'a.3': 9 } }, { a: [1, null, null, 9] }, '$set: pads with null'],
  [{ a: [] }, { $set: { 'a.0.b': 1 } }, { a: [{ b: 1 }] }, '$set: Set Elements in Arrays'],
  [{}, { $set: { 'a.0': 1 } }, { a: { 0: 1 } }, '$set: a numeric name in a new document is a field'],
  [{ a: 1 }, { $set: { 'a.b': 1 } }, 28, 'PathNotViable: Cannot create field in a scalar'],
  [{ a: null }, { $set: { 'a.b': 1 } }, 28, 'PathNotViable: Cannot create field in null'],
  [{ a: [1] }, { $set: { 'a.b': 1 } }, 28, 'PathNotViable: Cannot create field in an array'],
  [{ a: [1] }, { $set: { 'a.0.b': 1 } }, 28, 'PathNotViable: Cannot create field in a scalar'],
  [{}, { $set: { b: 1, a: 1 } }, { a: 1, b: 1 }, LEXICAL],
  [{}, { $set: { b: 1 }, $inc: { a: 1 } }, { a: 1, b: 1 }, LEXICAL],
  [
    { a: [] },
    { $set: { 'a.10': 1, 'a.2': 2 } },
    { a: [null, null, 2, null, null, null, null, null, null, null, 1] },
    LEXICAL,
  ],
  [{ a: 1 }, { $set: { _id: 1 } }, { a: 1 }, '$set: the same _id is no change'],
  [{ a: 1 }, { $set: { _id: 2 } }, 66, 'ImmutableField'],
  [{ a: 1 }, { $unset: { _id: '' } }, 66, 'ImmutableField'],
  [{ a: 1 }, { $set: {} }, { a: 1 }, '$set: an empty operand is no change'],
  [{ a: 1, b: 2 }, { $unset: { a: '' } }, { b: 2 }, '$unset'],
  [{ a: 1 }, { $unset: { b: '' } }, { a: 1 }, '$unset: a missing field is no change'],
  [{ a: { b: 1, c: 2 } }, { $unset: { 'a.b': '' } }, { a: { c: 2 } }, '$unset'],
  [{ a: [1, 2] }, { $unset: { 'a.0': '' } }, { a: [null, 2] }, '$unset: array elements become null'],
  [{ a: [1] }, { $unset: { 'a.5': '' } }, { a: [1] }, '$unset: a missing element is no change'],
  [{ a: 1 }, { $unset: { 'a.b': '' } }, { a: 1 }, '$unset: a path through a scalar is no change'],
  [{ a: 1 }, { $setOnInsert: { b: 1 } }, { a: 1 }, '$setOnInsert: nothing on an update'],
  [{ a: 1 }, { $set: { a: 1 }, $inc: { a: 1 } }, 40, 'ConflictingUpdateOperators'],
  [{ a: 1 }, { $set: { a: 1, 'a.b': 1 } }, 40, 'ConflictingUpdateOperators'],
  [{ a: 1 }, { $set: 1 }, 9, 'FailedToParse: modifiers operate on fields'],
  [{ a: 1 }, { $set: { 'a..b': 1 } }, 56, 'EmptyFieldName'],
  [{ a: 1 }, { $set: { $b: 1 } }, 52, 'DollarPrefixedFieldName'],
  [{ a: 1 }, { $set: { '': 1 } }, 56, 'EmptyFieldName'],
  [{ a: 1 }, { $set: { 'a.$b': 1 } }, 52, 'DollarPrefixedFieldName'],
  ...['$.a', 'a.$', 'a.$.b', 'a.$[]', 'a.$[e].b'].map(
    (path): Probe => [{ a: [{ b: 1 }] }, { $set: { [path]: 1 } }, 238, 'refused by name: positions'],
  ),
  ...['$mul', '$rename', '$currentDate', '$bit', '$foo'].map(
    (operator): Probe => [{ a: 1 }, { [operator]: { a: 1 } }, 238, 'refused by name'],
  ),
  [{ a: 1 }, { b: 1, $set: { c: 1 } }, 52, 'DollarPrefixedFieldName in a replacement'],
  [{ a: 1 }, [{ $set: { a: 2 } }], 238, 'refused by name'] as unknown as Probe,
  [{ a: 1 }, 'x', 9, 'FailedToParse: an object or an array'] as unknown as Probe,
  [{ a: 1, b: 1 }, { $set: { 'a.x': 1, a: 1 } }, 40, 'ConflictingUpdateOperators'],
  [{ a: { x: 1 } }, { $set: { 'a.x': 2, 'a.xy': 3 } }, { a: { x: 2, xy: 3 } }, 'no conflict: other names'],
  [{ a: [0] }, { $set: { 'a.1500002': 1 } }, 2, 'kMaxPaddingAllowed in path_support.h: 1,500,000'],
  [{}, { $set: { c: 1, 'b.y': 1, 'b.x': 1 } }, { b: { x: 1, y: 1 }, c: 1 }, LEXICAL],
  [{ a: 1, b: 1 }, { c: 3 }, { c: 3 }, 'update: replacement keeps only _id; crud replaceOne.json'],
  [{ a: 1 }, { _id: 1, c: 3 }, { c: 3 }, 'update: replacement with the same _id; crud replaceOne.json'],
  [{ a: 1 }, { _id: 2, c: 3 }, 66, 'ImmutableField'],
  [{ a: 1 }, {}, {}, 'update: an empty replacement'],
];

const BEYOND = Long.fromString('9007199254740993');
const numbers: Probe[] = [
  [{ a: 1 }, { $set: { a: BEYOND } }, 238, 'refused by name: an integer beyond 2^53'],
  [{ a: Long.fromNumber(2 ** 53 - 1) }, { $inc: { a: 1 } }, 238, 'refused by name: an integer beyond 2^53'],
  [
    { a: Long.fromNumber(2 ** 53 - 2) },
    { $inc: { a: 1 } },
    { a: Long.fromNumber(2 ** 53 - 1) },
    '$inc: the largest integer',
  ],
  [{ a: Long.fromNumber(-(2 ** 53) + 1) }, { $inc: { a: -1 } }, 238, 'refused by name: beyond -2^53'],
  [{ a: 1 }, { $inc: { a: 2 } }, { a: 3 }, '$inc'],
  [{ a: 1 }, { $inc: { a: -2 } }, { a: -1 }, '$inc: negative'],
  [{}, { $inc: { a: 2 } }, { a: 2 }, '$inc: sets a missing field'],
  [{ a: 1 }, { $inc: { a: 0.5 } }, { a: 1.5 }, '$inc'],
  [{ a: 'x' }, { $inc: { a: 1 } }, 14, '$inc: TypeMismatch on non-numeric fields'],
  [{ a: null }, { $inc: { a: 1 } }, 14, '$inc: null is an error'],
  [{ a: [1] }, { $inc: { a: 1 } }, 14, '$inc: TypeMismatch'],
  [{ a: 1 }, { $inc: { a: 'x' } }, 14, '$inc: TypeMismatch of the operand'],
  [{ a: { b: 1 } }, { $inc: { 'a.b': 1, 'a.c': 1 } }, { a: { b: 2, c: 1 } }, '$inc: embedded'],
  [{ a: [1, 2] }, { $inc: { 'a.1': 1 } }, { a: [1, 3] }, '$inc: array element'],
  [{ a: 2147483647 }, { $inc: { a: 1 } }, { a: Long.fromNumber(2147483648) }, '$inc: int32 grows to long'],
  [{ a: 2147483646 }, { $inc: { a: 1 } }, { a: 2147483647 }, '$inc: the largest int32'],
  [{ a: -2147483647 }, { $inc: { a: -1 } }, { a: new Int32(-2147483648) }, '$inc: the smallest int32'],
  [{ a: new Int32(-2147483648) }, { $inc: { a: -1 } }, { a: Long.fromNumber(-2147483649) }, '$inc: a long'],
  [{ a: Long.fromNumber(1) }, { $inc: { a: 1 } }, { a: Long.fromNumber(2) }, '$inc: the wider type stays'],
  [{ a: new Double(1) }, { $inc: { a: 1 } }, { a: new Double(2) }, '$inc: the wider type stays'],
  [{ a: 5 }, { $min: { a: 3 } }, { a: 3 }, '$min'],
  [{ a: 5 }, { $min: { a: 7 } }, { a: 5 }, '$min'],
  [{}, { $min: { a: 7 } }, { a: 7 }, '$min: sets a missing field'],
  [{ a: 5 }, { $min: { a: null } }, { a: null }, '$min: by BSON comparison order'],
  [{ a: 5 }, { $max: { a: 7 } }, { a: 7 }, '$max'],
  [{ a: 5 }, { $max: { a: 3 } }, { a: 5 }, '$max'],
  [{}, { $max: { a: 3 } }, { a: 3 }, '$max: sets a missing field'],
  [{ a: 5 }, { $max: { a: 'x' } }, { a: 'x' }, '$max: by BSON comparison order'],
  [{ a: new Date(5) }, { $max: { a: new Date(9) } }, { a: new Date(9) }, '$max: Compare Dates'],
  [{ a: { b: 1 } }, { $max: { 'a.b': 2 } }, { a: { b: 2 } }, '$max: embedded'],
  [{ a: new Int32(1) }, { $max: { a: new Double(1) } }, { a: 1 }, '$max: equal values are no change'],
];

const upserts: [q: Document, u: Document, inserted: Document | number, source: string][] = [
  [{ _id: 5 }, { $set: { a: 1 } }, { _id: 5, a: 1 }, 'update: upsert with equality conditions'],
  [{ _id: 5, b: 2 }, { $set: { a: 1 } }, { _id: 5, b: 2, a: 1 }, 'update: upsert with equality conditions'],
  [
    { _id: 5, b: { $gt: 2 } },
    { $set: { a: 1 } },
    { _id: 5, a: 1 },
    'update: comparisons are not in the new document',
  ],
  [
    { _id: 5, 'b.c': 2 },
    { $set: { a: 1 } },
    { _id: 5, b: { c: 2 }, a: 1 },
    'update: upsert with dotted query',
  ],
  [{ $and: [{ _id: 5 }, { b: 1 }] }, { $set: { a: 1 } }, { _id: 5, b: 1, a: 1 }, 'update: upsert with $and'],
  [
    { _id: 5, b: { $in: [7] } },
    { $set: { a: 1 } },
    { _id: 5, b: 7, a: 1 },
    'update: a single $in is an equality',
  ],
  [{ _id: 5, b: 1 }, { $setOnInsert: { c: 3 }, $inc: { b: 1 } }, { _id: 5, b: 2, c: 3 }, '$setOnInsert'],
  [{ _id: 5, b: 1 }, { c: 3 }, { _id: 5, c: 3 }, 'update: upsert with a replacement; crud replaceOne.json'],
  [{ b: 1 }, { _id: 6, c: 3 }, { _id: 6, c: 3 }, 'update: upsert with a replacement'],
  [
    { _id: 5 },
    { $push: { a: 1 }, $addToSet: { b: 2 } },
    { _id: 5, a: [1], b: [2] },
    'update: upsert with array operators',
  ],
  [{ _id: 5, $or: [{ b: 1 }] }, { $set: { a: 1 } }, { _id: 5, b: 1, a: 1 }, 'update: an $or of one branch'],
  [{ _id: 5, $or: [{ b: 1 }, { b: 2 }] }, { $set: { a: 1 } }, { _id: 5, a: 1 }, 'update: no $or of more'],
  [{ _id: 5, b: { $in: [1, 2] } }, { $set: { a: 1 } }, { _id: 5, a: 1 }, 'update: no $in of more'],
  [{ _id: 5, b: 1, $or: [{ b: 1 }] }, { $set: { a: 1 } }, 54, 'NotSingleValueField'],
  [{ _id: 5, b: { c: 1 }, 'b.d': 1 }, { $set: { a: 1 } }, 54, 'NotSingleValueField: upsert_fields.js'],
  [{ _id: 5, 'b.d': 1, b: { c: 1 } }, { $set: { a: 1 } }, 54, 'NotSingleValueField: upsert_fields.js'],
];

describe('embedded database: what updates do', () => {
  const { run, find } = useEngine();
  it(`${fields.length} probes of fields, paths and replacement`, () => probe(fields));
  it(`${numbers.length} probes of arithmetic, minimum and maximum`, () => probe(numbers));

  it(`${upserts.length} probes of upserts`, async () => {
    for (const [i, [q, u, inserted, source]] of upserts.entries()) {
      const reply = await run({ update: `c${i}`, updates: [{ q, u, upsert: true }] });
      const label = `${JSON.stringify(q)} ${JSON.stringify(u)} (${source})`;
      if (typeof inserted === 'number') {
        expect((reply.writeErrors as Document[])[0]?.code, label).to.equal(inserted);
        continue;
      }
      expect(reply, label).to.deep.include({
        n: 1,
        nModified: 0,
        upserted: [{ index: 0, _id: inserted._id }],
      });
      expect((await find(`c${i}`, {}))[0], label).to.deep.equal(inserted);
    }
  });

  it('updateOne changes one document, updateMany each, and both say how many', async () => {
    await run({ insert: 'c', documents: [1, 1, 1, 2].map((a, _id) => ({ _id, a })) });
    const update = (statement: Document) => run({ update: 'c', updates: [{ q: { a: 1 }, ...statement }] });
    const held = async () => (await find('c', {})).map(({ b }) => b);
    expect(await update({ u: { $inc: { b: 1 } } })).to.include({ n: 1, nModified: 1 });
    expect(await held()).to.deep.equal([1, undefined, undefined, undefined]);
    expect(await update({ u: { $inc: { b: 1 } }, multi: true })).to.include({ n: 3, nModified: 3 });
    expect(await held()).to.deep.equal([2, 1, 1, undefined]);
    expect(await update({ u: { $set: { b: 1 } }, multi: true })).to.include({ n: 3, nModified: 1 });
    expect(await update({ u: { c: 1 }, multi: true })).to.have.nested.property('writeErrors[0].code', 9);
    expect(await held()).to.deep.equal([1, 1, 1, undefined]);
  });

  it('an upsert that finds documents inserts none', async () => {
    await run({ insert: 'c', documents: [{ _id: 1, a: 1 }] });
    for (const multi of [false, true]) {
      const update = { q: { a: 1 }, u: { $inc: { b: 1 } }, upsert: true, multi };
      expect(await run({ update: 'c', updates: [update] })).to.deep.equal({
        ...{ n: 1, nModified: 1, ok: 1 },
      });
    }
    expect(await find('c', {})).to.deep.equal([{ _id: 1, a: 1, b: 2 }]);
  });

  it('an array is padded by up to 1,500,000 nulls', () => {
    const container: unknown[] = [0];
    expect(() => writeSlot({ container, key: '1500002' }, 1))
      .to.throw()
      .with.property('code', 2);
    writeSlot({ container, key: '1500001' }, 1);
    expect([container.length, container[1], container.at(-1)]).to.deep.equal([1_500_002, null, 1]);
  });

  it('no path reaches a prototype', async () => {
    await run({ insert: 'c', documents: [{ _id: 1, a: {} }] });
    for (const path of ['constructor.prototype.polluted', 'a.constructor.prototype.polluted', 'a.toString.x'])
      await run({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { [path]: 1 } } }] });
    await run({
      update: 'c',
      updates: [
        { q: { _id: 1 }, u: { $set: { ['__proto__.polluted' as string]: 1, 'a.__proto__.polluted': 1 } } },
      ],
    });
    expect(({} as Document).polluted).to.equal(undefined);
    expect((Object.prototype.toString as unknown as Document).x).to.equal(undefined);
    const [stored] = await find('c', {});
    expect(Object.keys(stored ?? {})).to.include.members(['constructor', '__proto__']);
    expect(await find('c', { filter: { 'a.hasOwnProperty': { $exists: true } } })).to.deep.equal([]);
    expect(await find('c', { filter: { '__proto__.polluted': 1 } })).to.have.lengthOf(1);
  });
});
