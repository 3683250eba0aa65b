import { expect } from 'chai';
import { MongoBulkWriteError } from 'mongodb';
import { failure, useDriver } from '../support/driver.js';

describe('embedded database: writes, through the driver', () => {
  const { db, rows } = useDriver();

  describe('writes', () => {
    it('E11000 carries what mongoose and applications read', async () => {
      await rows().createIndex({ room: 1, seq: -1 }, { unique: true });
      await rows().insertOne({ _id: 1 as never, room: 'a', seq: 5 });
      const error = await failure(rows().insertOne({ _id: 2 as never, room: 'a', seq: 5 }));
      expect(error.code).to.equal(11000);
      expect(error.message).to.contain(
        'E11000 duplicate key error collection: test.rows index: room_1_seq_-1 dup key: { room: "a", seq: 5 }',
      );
      expect(error.keyPattern ?? error.errorResponse.keyPattern).to.deep.equal({ room: 1, seq: -1 });
      expect(error.keyValue ?? error.errorResponse.keyValue).to.deep.equal({ room: 'a', seq: 5 });
      const byUpdate = await failure(
        rows().updateOne({ _id: 3 as never }, { $set: { room: 'a', seq: 5 } }, { upsert: true }),
      );
      expect(byUpdate.code).to.equal(11000);
      expect(await rows().countDocuments()).to.equal(1);
    });

    it('an ordered bulk stops at the first error, an unordered one reports each by index', async () => {
      await rows().insertOne({ _id: 1 as never });
      const documents = [{ _id: 0 }, { _id: 1 }, { _id: 2 }, { _id: 2 }, { _id: 3 }] as never[];
      const ordered = (await failure(rows().insertMany(documents))) as MongoBulkWriteError;
      expect(ordered).to.be.instanceOf(MongoBulkWriteError);
      expect(ordered.insertedCount).to.equal(1);
      expect([ordered.writeErrors].flat().map((one) => one.index)).to.deep.equal([1]);
      await rows().deleteMany({ _id: { $ne: 1 as never } });
      const unordered = (await failure(
        rows().insertMany(documents, { ordered: false }),
      )) as MongoBulkWriteError;
      expect(unordered.insertedCount).to.equal(3);
      expect([unordered.writeErrors].flat().map((one) => one.index)).to.deep.equal([1, 3]);
    });

    it('thousands of long errors still fit a reply', async () => {
      const _id = 'x'.repeat(1900) as never;
      await rows().insertOne({ _id });
      const documents = Array.from({ length: 5_000 }, () => ({ _id }));
      const reply = await db().command({ insert: 'rows', documents, ordered: false });
      expect(reply.writeErrors).to.have.lengthOf(5_000);
      expect(reply.writeErrors[0].errmsg).to.contain('E11000');
      expect(reply.writeErrors[4_999]).to.deep.equal({ index: 4_999, code: 11000, errmsg: '' });
    });

    it('a mixed bulkWrite counts each kind', async () => {
      const result = await rows().bulkWrite([
        { insertOne: { document: { _id: 1 as never, a: 1 } } },
        { insertOne: { document: { _id: 2 as never, a: 1 } } },
        { updateMany: { filter: { a: 1 }, update: { $inc: { a: 1 } } } },
        { updateOne: { filter: { _id: 9 as never }, update: { $set: { a: 9 } }, upsert: true } },
        { replaceOne: { filter: { _id: 1 as never }, replacement: { b: 1 } } },
        { deleteOne: { filter: { _id: 2 as never } } },
      ]);
      expect(result).to.include({
        insertedCount: 2,
        matchedCount: 3,
        modifiedCount: 3,
        upsertedCount: 1,
        deletedCount: 1,
      });
      expect(result.upsertedIds).to.deep.equal({ 3: 9 });
      expect(await rows().find().sort({ _id: 1 }).toArray()).to.deep.equal([
        { _id: 1, b: 1 },
        { _id: 9, a: 9 },
      ]);
    });

    it('an update that changes nothing is matched, not modified', async () => {
      await rows().insertOne({ _id: 1 as never, a: 1 });
      expect(await rows().updateOne({ _id: 1 as never }, { $set: { a: 1 } })).to.include({
        matchedCount: 1,
        modifiedCount: 0,
      });
    });

    it('updateMany does not meet again what it has moved in its index', async () => {
      await rows().createIndex({ n: 1 });
      await rows().insertMany(Array.from({ length: 300 }, (_, n) => ({ n })));
      expect(await rows().updateMany({ n: { $gte: 0 } }, { $inc: { n: 1000 } })).to.include({
        modifiedCount: 300,
      });
      expect((await rows().find().sort({ n: -1 }).limit(1).toArray())[0]?.n).to.equal(1299);
    });
  });

  describe('findAndModify', () => {
    beforeEach(() => rows().insertMany([1, 2, 3].map((x) => ({ _id: x as never, x: x * 11 }))));

    it('updates the first in sort order and returns it before or after', async () => {
      const before = await rows().findOneAndUpdate(
        { x: { $gt: 1 } },
        { $inc: { x: 1 } },
        { sort: { x: -1 }, includeResultMetadata: true },
      );
      expect(before).to.deep.include({
        value: { _id: 3, x: 33 },
        lastErrorObject: { n: 1, updatedExisting: true },
      });
      const after = await rows().findOneAndUpdate(
        { _id: 3 as never },
        { $inc: { x: 1 } },
        { returnDocument: 'after', projection: { _id: 0, x: 1 } },
      );
      expect(after).to.deep.equal({ x: 35 });
    });

    it('upserts, returns null before and the document after', async () => {
      const before = await rows().findOneAndUpdate(
        { _id: 4 as never },
        { $set: { x: 1 } },
        { upsert: true, includeResultMetadata: true },
      );
      expect(before).to.deep.include({
        value: null,
        lastErrorObject: { n: 1, updatedExisting: false, upserted: 4 },
      });
      const after = await rows().findOneAndUpdate(
        { y: 1 },
        { $setOnInsert: { x: 1 } },
        { upsert: true, returnDocument: 'after' },
      );
      expect(after).to.deep.include({ x: 1, y: 1 });
      expect(Object.keys(after ?? {})[0]).to.equal('_id');
      expect(after?._id).to.have.property('toHexString');
    });

    it('removes and replaces', async () => {
      expect(await rows().findOneAndDelete({ x: { $lt: 30 } }, { sort: { x: 1 } })).to.deep.equal({
        _id: 1,
        x: 11,
      });
      expect(
        await rows().findOneAndReplace({ _id: 2 as never }, { z: 1 }, { returnDocument: 'after' }),
      ).to.deep.equal({ _id: 2, z: 1 });
      expect(await rows().findOneAndDelete({ _id: 99 as never })).to.equal(null);
    });
  });
});
