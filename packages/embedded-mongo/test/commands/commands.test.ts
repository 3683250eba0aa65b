import { expect } from 'chai';
import type { Document } from 'mongodb';
import { failure, useDriver } from '../support/driver.js';

describe('embedded database: commands, through the driver', () => {
  const { client, db, rows } = useDriver();

  describe('cursors', () => {
    beforeEach(() =>
      rows().insertMany(Array.from({ length: 250 }, (_, i) => ({ _id: i as never, pad: 'x'.repeat(100) }))),
    );

    it('gives everything in batches, by any batch size', async () => {
      for (const batchSize of [1, 7, 100, 101, 249, 250, 251, 1000])
        expect(await rows().find({}, { batchSize }).toArray(), `batches of ${batchSize}`).to.have.lengthOf(
          250,
        );
      expect(await rows().find({}, { batchSize: 2, limit: 5 }).toArray()).to.have.lengthOf(5);
    });

    it('an empty first batch, a single batch and a killed cursor', async () => {
      const empty = await db().command({ find: 'rows', batchSize: 0 });
      expect(empty.cursor.firstBatch).to.deep.equal([]);
      const more = await db().command({ getMore: empty.cursor.id, collection: 'rows', batchSize: 3 });
      expect(more.cursor.nextBatch).to.have.lengthOf(3);
      const killed = await db().command({ killCursors: 'rows', cursors: [empty.cursor.id] });
      expect(killed.cursorsKilled).to.have.lengthOf(1);
      expect((await failure(db().command({ getMore: empty.cursor.id, collection: 'rows' }))).code).to.equal(
        43,
      );
      const again = await db().command({ killCursors: 'rows', cursors: [empty.cursor.id] });
      expect([again.cursorsKilled, again.cursorsNotFound.length]).to.deep.equal([[], 1]);
      expect((await failure(db().command({ killCursors: 'rows', cursors: empty.cursor.id }))).code).to.equal(
        14,
      );
      const single = await db().command({ find: 'rows', batchSize: 3, singleBatch: true });
      expect(Number(single.cursor.id)).to.equal(0);
    });

    it('a cursor goes on while documents come and go', async () => {
      const seen: number[] = [];
      for await (const { _id } of rows().find({}, { batchSize: 50, sort: { _id: 1 } })) {
        seen.push(_id as unknown as number);
        if (seen.length === 10) await rows().deleteMany({ _id: { $gte: 200 as never } });
      }
      expect(seen.slice(0, 50)).to.deep.equal(Array.from({ length: 50 }, (_, i) => i));
      expect(new Set(seen).size).to.equal(seen.length);
      expect(seen.length).to.be.within(200, 250);
    });
  });

  describe('cursors over indexes', () => {
    it('a later batch holds nothing that no longer matches, and nothing that is gone', async () => {
      for (const key of [undefined, { open: 1 }] as const) {
        await rows().deleteMany({});
        await rows().insertMany(Array.from({ length: 250 }, (_, i) => ({ _id: i as never, open: true })));
        if (key) await rows().createIndex(key);
        const cursor = rows().find({ open: true }, { batchSize: 10 });
        await cursor.next();
        await rows().updateMany({ _id: { $gt: 100 as never } }, { $set: { open: false } });
        await rows().deleteOne({ _id: 50 as never });
        const later = (await cursor.toArray()).slice(9).map((row) => Number(row._id));
        expect(later).to.deep.equal(Array.from({ length: 91 }, (_, i) => 10 + i).filter((i) => i !== 50));
      }
    });
  });

  describe('catalog', () => {
    it('creates, lists and drops collections', async () => {
      await db().createCollection('a');
      await db().createCollection('b');
      expect((await db().listCollections().toArray()).map((one) => one.name)).to.deep.equal(['a', 'b']);
      expect(
        (await db().listCollections({ name: 'b' }, { nameOnly: true }).toArray()).map((one) => one.name),
      ).to.deep.equal(['b']);
      expect(await db().listCollections({ name: 'a' }).toArray()).to.deep.equal([
        {
          name: 'a',
          type: 'collection',
          options: {},
          info: { readOnly: false },
          idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
        },
      ]);
      await db().dropCollection('a');
      expect(await db().listCollections().toArray()).to.have.lengthOf(1);
    });

    it('creates indexes once, and refuses those that contradict', async () => {
      expect(await rows().createIndex({ a: 1, b: -1 })).to.equal('a_1_b_-1');
      await rows().createIndex({ a: 1, b: -1 });
      expect((await rows().indexes()).map((index) => index.name)).to.deep.equal(['_id_', 'a_1_b_-1']);
      expect((await failure(rows().createIndex({ a: 1, b: -1 }, { unique: true }))).code).to.equal(86);
      const partial = { partialFilterExpression: { a: 1 } };
      expect((await failure(rows().createIndex({ a: 1, b: -1 }, partial))).code).to.equal(86);
      expect((await failure(rows().createIndex({ a: 1, b: -1 }, { name: 'other' }))).code).to.equal(85);
      expect((await failure(rows().createIndex({ c: 1 }, { name: 'a_1_b_-1' }))).code).to.equal(86);
      await rows().dropIndex('a_1_b_-1');
      expect(await rows().indexes()).to.have.lengthOf(1);
    });

    it('builds an index over what is there; a duplicate leaves the collection without it', async () => {
      await rows().insertMany([{ a: 1 }, { a: 2 }, { a: 2 }]);
      expect(
        (await failure(rows().createIndexes([{ key: { a: -1 } }, { key: { a: 1 }, unique: true }]))).code,
      ).to.equal(11000);
      expect(await rows().indexes()).to.have.lengthOf(1);
      await rows().deleteOne({ a: 2 });
      await rows().createIndex({ a: 1 }, { unique: true });
      expect((await failure(rows().insertOne({ a: 1 }))).code).to.equal(11000);
      await rows().dropIndexes();
      await rows().insertOne({ a: 1 });
    });

    it('unique indexes take null once, for missing fields as well', async () => {
      await rows().createIndex({ a: 1 }, { unique: true });
      await rows().insertOne({});
      expect((await failure(rows().insertOne({}))).code).to.equal(11000);
      expect((await failure(rows().insertOne({ a: null }))).code).to.equal(11000);
    });
  });

  describe('aggregation', () => {
    beforeEach(async () => {
      await db()
        .collection('authors')
        .insertMany([1, 2].map((n) => ({ _id: n as never, name: `n${n}`, team: n })));
      await rows().insertMany(
        [1, 2, 3, 4].map((n) => ({ _id: n as never, author: n % 3, likes: n * 10, tags: ['a', `t${n}`] })),
      );
    });

    it('groups, sorts, projects and limits', async () => {
      const result = await rows()
        .aggregate([
          { $match: { _id: { $gt: 1 } } },
          { $group: { _id: '$author', n: { $sum: 1 }, likes: { $push: '$likes' } } },
          { $project: { likes: 1 } },
        ])
        .toArray();
      expect(result).to.deep.equal([
        { _id: 2, likes: [20] },
        { _id: 0, likes: [30] },
        { _id: 1, likes: [40] },
      ]);
    });

    it('looks up through the index of the other side, with and without a pipeline', async () => {
      const lookup = { from: 'authors', localField: 'author', foreignField: '_id', as: 'by' };
      const joined = async (pipeline?: Document[]) => {
        const found = await rows()
          .aggregate([
            { $match: { _id: { $lte: 3 } } },
            { $sort: { _id: 1 } },
            { $lookup: pipeline ? { ...lookup, pipeline } : lookup },
          ])
          .toArray();
        return found.map((row) => row.by);
      };
      expect(await joined()).to.deep.equal([
        [{ _id: 1, name: 'n1', team: 1 }],
        [{ _id: 2, name: 'n2', team: 2 }],
        [],
      ]);
      expect(await joined([{ $match: { team: { $gt: 1 } } }, { $project: { name: 1 } }])).to.deep.equal([
        [],
        [{ _id: 2, name: 'n2' }],
        [],
      ]);
      const status = await db().command({ serverStatus: 1 });
      expect(status.embedded.collectionScans.filter((scan: Document) => scan.query === '_id')).to.deep.equal(
        [],
      );
    });

    it('counts', async () => {
      expect(await rows().countDocuments({ author: 1 })).to.equal(2);
      expect(await rows().countDocuments({ author: 9 })).to.equal(0);
      expect(await rows().estimatedDocumentCount()).to.equal(4);
    });

    it('distinct values are those of elements', async () => {
      expect((await rows().distinct('tags')).sort()).to.deep.equal(['a', 't1', 't2', 't3', 't4']);
      expect((await rows().distinct('author', { likes: { $gt: 10 } })).sort()).to.deep.equal([0, 1, 2]);
    });
  });

  it('transactions and change streams are refused, as the driver reports them', async () => {
    const session = client().startSession();
    const transaction = session.withTransaction(async () => {
      await rows().insertOne({ a: 1 }, { session });
    });
    expect((await failure(transaction)).message).to.match(/replica set|not served/i);
    await session.endSession();
    const stream = rows().watch();
    expect((await failure(stream.next())).code).to.equal(238);
    await stream.close();
    expect(await rows().countDocuments()).to.equal(0);
  });
});
