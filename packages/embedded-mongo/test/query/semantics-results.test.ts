import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'bson';
import { expect } from 'chai';
import type { Document } from '../../src/values/bson-types.js';
import { useEngine } from '../support/run-command.js';

const ORDER = 'Comparison/Sort Order';

/** One value of each type, in MongoDB's order. */
const typed: unknown[] = [
  null,
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  -9007199254740991,
  -1,
  0,
  0.1,
  1,
  Long.fromNumber(9007199254740991),
  Number.POSITIVE_INFINITY,
  '',
  'A',
  'B',
  'a',
  'aa',
  'é',
  '\uffee',
  '\u{1f600}',
  {},
  { a: 1 },
  { a: 1, b: 1 },
  { b: 1 },
  { a: 'x' },
  Buffer.from([9]),
  Buffer.from([1, 1]),
  new Binary(Buffer.from([1, 1]), 128),
  new UUID('00000000-0000-4000-8000-000000000000'),
  new ObjectId('000000000000000000000001'),
  new ObjectId('000000000000000000000002'),
  false,
  true,
  new Date(-1),
  new Date(1),
];

type SortProbe = [documents: Document[], sort: Document, ids: number[], source: string];

const sorts: SortProbe[] = [
  [
    [
      { _id: 1, a: 2 },
      { _id: 2, a: 1 },
    ],
    { a: 1 },
    [2, 1],
    'cursor.sort()',
  ],
  [
    [
      { _id: 1, a: 2 },
      { _id: 2, a: 1 },
    ],
    { a: -1 },
    [1, 2],
    'cursor.sort()',
  ],
  [
    [
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 1, b: 1 },
      { _id: 3, a: 0 },
    ],
    { a: 1, b: 1 },
    [3, 2, 1],
    'cursor.sort(): by several fields',
  ],
  [
    [
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 1, b: 3 },
      { _id: 3, a: 2 },
    ],
    { a: -1, b: -1 },
    [3, 2, 1],
    'cursor.sort(): by several fields',
  ],
  [
    [
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 1, b: 3 },
      { _id: 3, a: 2 },
    ],
    { a: 1, b: -1 },
    [2, 1, 3],
    'cursor.sort(): mixed directions',
  ],
  [
    [
      { _id: 1, a: { b: 2 } },
      { _id: 2, a: { b: 1 } },
    ],
    { 'a.b': 1 },
    [2, 1],
    'cursor.sort(): embedded fields',
  ],
  [
    [{ _id: 1, a: 1 }, { _id: 2 }, { _id: 3, a: null }, { _id: 4, a: -1 }],
    { a: 1, _id: 1 },
    [2, 3, 4, 1],
    `${ORDER}: missing and null are equal`,
  ],
  [
    [{ _id: 3 }, { _id: 1 }, { _id: 2 }],
    {},
    [3, 1, 2],
    'natural order: without sort, order of insertion here',
  ],
  [[{ _id: 3 }, { _id: 1 }, { _id: 2 }], { _id: -1 }, [3, 2, 1], 'cursor.sort(): _id'],
];

describe('embedded database: order of results', () => {
  const { run, find, count, failureOf } = useEngine();
  it('orders all types and within each, with and without an index, in both directions', async () => {
    // Inserted from both ends to the middle, so that no order is there by chance.
    const documents = typed.map((a, _id) => ({ _id, a }));
    const mixed = documents.map(
      (_, i) => documents[i % 2 ? documents.length - 1 - (i >> 1) : i >> 1] as Document,
    );
    await run({ insert: 'plain', documents: mixed });
    await run({ insert: 'indexed', documents: mixed });
    await run({ createIndexes: 'indexed', indexes: [{ key: { a: -1 }, name: 'a' }] });
    const ids = documents.map((document) => document._id);
    for (const collection of ['plain', 'indexed']) {
      const up = await find(collection, { sort: { a: 1 }, projection: { _id: 1 } });
      expect(
        up.map((document) => document._id),
        `${ORDER} in ${collection}`,
      ).to.deep.equal(ids);
      const down = await find(collection, { sort: { a: -1 }, projection: { _id: 1 } });
      expect(
        down.map((document) => document._id),
        `${ORDER} in ${collection}, descending`,
      ).to.deep.equal([...ids].reverse());
    }
  });

  it(`${sorts.length} probes of sorts`, async () => {
    for (const [i, [documents, sort, ids, source]] of sorts.entries()) {
      const name = `c${i}`;
      await run({ insert: name, documents });
      const label = `${JSON.stringify(documents)} by ${JSON.stringify(sort)} (${source})`;
      expect(
        (await find(name, { sort })).map((document) => document._id),
        label,
      ).to.deep.equal(ids);
      if (Object.keys(sort).length > 0 && !('_id' in sort)) {
        await run({ createIndexes: name, indexes: [{ key: sort, name: 'i' }] });
        expect(
          (await find(name, { sort })).map((document) => document._id),
          `${label}, indexed`,
        ).to.deep.equal(ids);
      }
    }
  });

  it('skip, limit and batches cut the same result', async () => {
    await run({
      insert: 'c',
      documents: Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i % 3 })),
    });
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1, _id: -1 }, name: 'i' }] });
    const all = (await find('c', { sort: { a: 1, _id: -1 } })).map((document) => document._id);
    for (const [skip, limit] of [
      [0, 5],
      [3, 5],
      [18, 5],
      [30, 5],
      [4, 0],
    ] as const) {
      const part = await find('c', { sort: { a: 1, _id: -1 }, skip, limit });
      expect(part.map((document) => document._id)).to.deep.equal(
        limit ? all.slice(skip, skip + limit) : all.slice(skip),
      );
      const stages = [{ $skip: skip }, ...(limit ? [{ $limit: limit }] : [])];
      expect(await count('c', {}, stages)).to.equal(part.length);
    }
  });

  it('an array in a field to sort or index by is refused by name', async () => {
    const arrays = [{ a: [1] }, { a: [] }, { a: [{ b: 1 }] }, { a: { b: [1] } }, { a: { b: { c: [2] } } }];
    for (const [i, document] of arrays.entries()) {
      const name = `c${i}`;
      await run({ insert: name, documents: [{ _id: 1, ...document }] });
      const sorted = await failureOf({ find: name, sort: { 'a.b.c': 1 } });
      expect(sorted, JSON.stringify(document)).to.include({ code: 238 });
      expect(sorted.errmsg).to.contain("'a.b.c'");
      const indexes = [{ key: { x: 1, 'a.b.c': 1 }, name: 'i' }];
      expect(await failureOf({ createIndexes: name, indexes })).to.include({ code: 238 });
      await run({ delete: name, deletes: [{ q: {}, limit: 0 }] });
      await run({ createIndexes: name, indexes });
      expect(await failureOf({ insert: name, documents: [document] })).to.include({ code: 238 });
      await run({ insert: name, documents: [{ _id: 2 }] });
      const update = { q: { _id: 2 }, u: { $set: document } };
      expect(await failureOf({ update: name, updates: [update] })).to.include({ code: 238 });
      expect(await find(name, {})).to.deep.equal([{ _id: 2 }]);
    }
  });

  it('sorts and batches have the codes of MongoDB where they are malformed', async () => {
    await run({ insert: 'c', documents: [{ _id: 1 }] });
    const wrong: [command: Document, code: number, text: string][] = [
      [{ sort: 1 }, 14, 'sort'],
      [{ sort: { a: 2 } }, 15975, 'ordering must be 1'],
      [{ sort: { a: '1' } }, 15975, 'ordering'],
      [{ sort: { a: { $meta: 'textScore' } } }, 238, "field 'a'"],
      [{ sort: { $natural: 1 } }, 16410, '$natural'],
      [{ projection: 1 }, 2, 'projection'],
      ...['skip', 'limit', 'batchSize'].flatMap((option): [Document, number, string][] => [
        [{ [option]: -1 }, 51024, option],
        [{ [option]: 1.5 }, 51024, '1.5'],
        [{ [option]: 'x' }, 14, `'${option}' must be a number, not string`],
      ]),
      [{ singleBatch: 'x' }, 14, "'singleBatch' must be a boolean, not string"],
    ];
    for (const [command, code, text] of wrong) {
      const reply = await failureOf({ find: 'c', ...command });
      expect(reply.code, JSON.stringify(command)).to.equal(code);
      expect(reply.errmsg).to.contain(text);
    }
    const nothing = { filter: {}, sort: null, projection: null, skip: null, limit: null, singleBatch: null };
    expect(await find('c', nothing)).to.deep.equal([{ _id: 1 }]);
  });

  it("names with a $ are refused where mongod's FieldPath refuses them", async () => {
    await run({ insert: 'c', documents: [{ _id: 1, a: { $x: 1 } }] });
    for (const command of [{ sort: { 'a.$x': 1 } }, { projection: { 'a.$x': 1 } }, { sort: { $x: 1 } }]) {
      const failure = await find('c', command).catch((error) => error);
      expect(failure.reply, JSON.stringify(command)).to.include({ code: 16410 });
      expect(failure.message).to.include('$x');
    }
  });

  it('a value of a type that is not served is refused, wherever it stands', async () => {
    await run({ insert: 'c', documents: [{ _id: 1 }] });
    const ref = { $ref: 'd.c', $id: 7, x: 1 };
    const others = [
      ...[ref, new Code('1'), new Code('1', { a: 1 }), new MinKey(), new MaxKey(), new BSONSymbol('x')],
      ...[new Timestamp({ t: 1, i: 1 }), Decimal128.fromString('1'), new BSONRegExp('a'), /a/],
      Long.fromString('-9007199254740993'),
    ];
    for (const value of [...others, [{ a: ref }], { b: [/a/] }]) {
      const replies = [
        await run({ insert: 'c', documents: [{ _id: 2, a: value }] }),
        await run({ update: 'c', updates: [{ q: {}, u: { $set: { a: value } } }] }),
        await run({
          update: 'c',
          updates: [{ q: { _id: 3 }, u: { a: value }, upsert: true }],
        }),
      ];
      for (const { writeErrors } of replies)
        expect(writeErrors, JSON.stringify(value)).to.have.nested.property('[0].code', 238);
    }
    expect(await find('c', {})).to.deep.equal([{ _id: 1 }]);
  });
});
