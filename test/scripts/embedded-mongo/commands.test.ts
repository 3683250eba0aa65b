import { expect } from 'chai';
import { type Db, type Document, MongoBulkWriteError, MongoClient, type MongoServerError } from 'mongodb';
import mongoose from 'mongoose';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../../scripts/embedded-mongo/server.js';

/** The error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<MongoServerError> {
  try {
    await call;
  } catch (error) {
    return error as MongoServerError;
  }
  throw new Error('the call succeeded');
}

/** What the documents of the mongoose test have. */
interface PetFields {
  name?: string;
  tags: mongoose.Types.Array<string>;
  comments: mongoose.Types.DocumentArray<{ text?: string }>;
  meta?: Map<string, number>;
  owner?: mongoose.Types.ObjectId;
}

describe('embedded database: commands, through the driver', () => {
  let server: EmbeddedMongo;
  let client: MongoClient;
  let db: Db;

  before(async () => {
    server = await startEmbeddedMongo({ storage: 'memory' });
    client = await new MongoClient(server.uri, { retryWrites: false }).connect();
    db = client.db();
  });
  afterEach(() => db.dropDatabase());
  after(async () => {
    await client.close();
    await server.close();
  });

  const rows = () => db.collection<Document>('rows');

  describe('writes', () => {
    it('E11000 carries what mongoose and applications read', async () => {
      await rows().createIndex({ room: 1, seq: -1 }, { unique: true });
      await rows().insertOne({ _id: 1 as never, room: 'a', seq: 5 });
      const error = await failure(rows().insertOne({ _id: 2 as never, room: 'a', seq: 5 }));
      expect(error.code).to.equal(11000);
      expect(error.message).to.contain(
        'E11000 duplicate key error collection: adoption.rows index: room_1_seq_-1 dup key: { room: "a", seq: 5 }',
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
      const reply = await db.command({ insert: 'rows', documents, ordered: false });
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

    it('_id of a bad type and statements of a bad form have their codes', async () => {
      expect((await failure(rows().insertOne({ _id: [1] as never }))).code).to.equal(53);
      expect((await failure(rows().insertOne({ _id: /x/ as never }))).code).to.equal(53);
      expect((await failure(db.command({ update: 'rows', updates: [] }))).code).to.equal(16);
      const multi = await db.command({ update: 'rows', updates: [{ q: {}, u: { a: 1 }, multi: true }] });
      expect(multi.writeErrors[0].code).to.equal(9);
      const limit = await db.command({ delete: 'rows', deletes: [{ q: {}, limit: 5 }] });
      expect(limit.writeErrors[0].code).to.equal(9);
      expect((await failure(db.command({ update: 'rows' }))).code).to.equal(40414);
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

    it('contradicting options are refused', async () => {
      for (const options of [
        { remove: true, update: {} },
        { remove: true, new: true },
        { remove: true, upsert: true },
        {},
      ])
        expect((await failure(db.command({ findAndModify: 'rows', query: {}, ...options }))).code).to.equal(
          9,
        );
    });
  });

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
      const empty = await db.command({ find: 'rows', batchSize: 0 });
      expect(empty.cursor.firstBatch).to.deep.equal([]);
      const more = await db.command({ getMore: empty.cursor.id, collection: 'rows', batchSize: 3 });
      expect(more.cursor.nextBatch).to.have.lengthOf(3);
      const killed = await db.command({ killCursors: 'rows', cursors: [empty.cursor.id] });
      expect(killed.cursorsKilled).to.have.lengthOf(1);
      expect((await failure(db.command({ getMore: empty.cursor.id, collection: 'rows' }))).code).to.equal(43);
      const again = await db.command({ killCursors: 'rows', cursors: [empty.cursor.id] });
      expect([again.cursorsKilled, again.cursorsNotFound.length]).to.deep.equal([[], 1]);
      expect((await failure(db.command({ killCursors: 'rows', cursors: empty.cursor.id }))).code).to.equal(
        14,
      );
      const single = await db.command({ find: 'rows', batchSize: 3, singleBatch: true });
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

  describe('catalog', () => {
    it('creates, lists and drops collections', async () => {
      await db.createCollection('a');
      await db.createCollection('b');
      expect((await db.listCollections().toArray()).map((one) => one.name)).to.deep.equal(['a', 'b']);
      expect(
        (await db.listCollections({ name: 'b' }, { nameOnly: true }).toArray()).map((one) => one.name),
      ).to.deep.equal(['b']);
      expect(await db.listCollections({ name: 'a' }).toArray()).to.deep.equal([
        {
          name: 'a',
          type: 'collection',
          options: {},
          info: { readOnly: false },
          idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
        },
      ]);
      await db.dropCollection('a');
      expect(await db.listCollections().toArray()).to.have.lengthOf(1);
      for (const name of ['a$b', '', '.a', 'system.users'])
        expect((await failure(db.command({ create: name }))).code, name).to.equal(73);
      expect((await failure(db.command({ create: 'c', capped: true, size: 1000 }))).code).to.equal(238);
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
      expect((await failure(rows().createIndex({ a: 'text' }))).code).to.equal(238);
      expect((await failure(rows().createIndex({ a: 0 as never }))).code).to.equal(67);
      expect(
        (await failure(rows().createIndex({ a: 1 }, { partialFilterExpression: { a: { $ne: 1 } } }))).code,
      ).to.equal(238);
      await rows().dropIndex('a_1_b_-1');
      expect((await failure(rows().dropIndex('a_1_b_-1'))).code).to.equal(27);
      expect((await failure(rows().dropIndex('_id_'))).code).to.equal(72);
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

    it('refuses keys that are too long', async () => {
      await rows().createIndex({ a: 1, b: 1 });
      expect((await failure(rows().insertOne({ a: 'x'.repeat(3000) }))).code).to.equal(17280);
      expect(await rows().countDocuments()).to.equal(0);
    });
  });

  describe('aggregation', () => {
    beforeEach(async () => {
      await db
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
      const status = await db.command({ serverStatus: 1 });
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
    const session = client.startSession();
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

  it('createCollection again, as every start of mongoose does', async () => {
    await db.createCollection('again');
    await db.createCollection('again');
    expect(await db.listCollections({ name: 'again' }).toArray()).to.have.lengthOf(1);
  });

  it('runs mongoose: schema, defaults, save, populate, errors and indexes', async () => {
    const connection = await mongoose.createConnection(server.uri, { bufferCommands: false }).asPromise();
    try {
      const Author = connection.model(
        'Author',
        new mongoose.Schema({ email: { type: String, unique: true } }),
      );
      const schema = new mongoose.Schema(
        {
          author: { type: mongoose.Schema.Types.ObjectId, ref: 'Author' },
          title: String,
          comments: [{ text: String }],
          views: { type: Number, default: 0 },
        },
        { timestamps: true },
      );
      const Article = connection.model('Article', schema.index({ title: 1, createdAt: -1 }));
      // Asked for by name: what another module sets for all of mongoose (autoIndex off) must not matter here.
      await Promise.all([Author.createIndexes(), Article.createIndexes()]);
      const author = await Author.create({ email: 'a@example.org' });
      const article = await Article.create({ author: author._id, title: 'one' });
      article.comments.push({ text: 'first' });
      article.views += 1;
      await article.save();
      const found = await Article.findById(article._id)
        .populate<{ author: { email: string } }>('author')
        .orFail();
      expect(found.author.email).to.equal('a@example.org');
      expect(found.comments.map((comment) => comment.text)).to.deep.equal(['first']);
      const error = await failure(Author.create({ email: 'a@example.org' }));
      expect(error.code).to.equal(11000);
      expect((await Article.diffIndexes()).toDrop).to.deep.equal([]);
      expect((await Article.diffIndexes()).toCreate).to.deep.equal([]);
      expect(await Article.exists({ title: 'two' })).to.equal(null);
      await Article.collection.createIndex({ extra: 1 });
      expect(await Article.syncIndexes()).to.deep.equal(['extra_1']);
    } finally {
      await connection.close();
    }
  });

  it('runs mongoose: changed arrays, discriminators, plugins, virtual populate', async () => {
    const connection = await mongoose.createConnection(server.uri, { bufferCommands: false }).asPromise();
    try {
      const schema = new mongoose.Schema<PetFields>({
        name: String,
        tags: [String],
        comments: [{ text: String }],
        meta: { type: Map, of: Number },
        owner: mongoose.Schema.Types.ObjectId,
      });
      schema.plugin((plugged) => {
        plugged.add(new mongoose.Schema({ pluggedAt: { type: Date, default: () => new Date(5) } }));
      });
      schema.virtual('followers', { ref: 'Pet', localField: '_id', foreignField: 'owner' });
      const Pet = connection.model('Pet', schema);
      const Dog = Pet.discriminator<PetFields & { barks: boolean }>(
        'Dog',
        new mongoose.Schema({ barks: Boolean }),
      );
      const pet = await Pet.create({
        name: 'a',
        tags: ['x', 'y', 'z'],
        comments: [{ text: '1' }, { text: '2' }],
      });
      const dog = await Dog.create({ name: 'b', owner: pet._id, tags: ['x'] });
      const change = async (edit: (one: typeof pet) => void) => {
        const one = await Pet.findById(pet._id).orFail();
        edit(one);
        await one.save();
        const { tags, comments } = await Pet.findById(pet._id).orFail();
        return [...tags, ...comments.map(({ text }) => text)].join();
      };
      expect(await change((one) => one.tags.pull('x'))).to.equal('y,z,1,2');
      expect(await change((one) => one.tags.addToSet('y', 'w'))).to.equal('y,z,w,1,2');
      expect(await change((one) => one.tags.push({ $each: ['v'], $position: 0 } as never))).to.equal(
        'v,y,z,w,1,2',
      );
      expect(await change((one) => one.tags.$pop())).to.equal('v,y,z,1,2');
      expect(await change((one) => one.tags.$shift())).to.equal('y,z,1,2');
      expect(await change((one) => one.tags.unshift('u'))).to.equal('u,y,z,1,2');
      expect(await change((one) => one.tags.set(1, 'q'))).to.equal('u,q,z,1,2');
      expect(await change((one) => one.comments.pull(one.comments[0]?._id))).to.equal('u,q,z,2');
      expect(await change((one) => one.comments[0]?.set({ text: '3' }))).to.equal('u,q,z,3');
      expect(await change((one) => one.set({ meta: { a: 1 }, name: undefined }))).to.equal('u,q,z,3');
      const stale = await Pet.findById(pet._id).orFail();
      await change((one) => one.tags.splice(0, 2));
      stale.tags.splice(0, 1);
      expect((await failure(stale.save())).name).to.equal('VersionError');

      expect(await Dog.countDocuments({ name: { $ne: 'c' } })).to.equal(1);
      expect(
        await Dog.aggregate([{ $match: { name: 'b' } }, { $project: { name: 1, _id: 0 } }]),
      ).to.deep.equal([{ name: 'b' }]);
      expect(await Pet.distinct('tags', { __t: 'Dog' })).to.deep.equal(['x']);
      const found = await Pet.findOne({ name: null })
        .populate<{ followers: { name: string }[] }>('followers')
        .orFail();
      expect(found.followers.map(({ name }) => name)).to.deep.equal(['b']);
      expect(found.get('pluggedAt')).to.deep.equal(new Date(5));
      const newest = await Pet.findOneAndUpdate(
        {},
        { $set: { name: 'c' } },
        { sort: { _id: -1 }, projection: 'name' },
      );
      expect(newest?.toObject()).to.deep.include({ _id: dog._id, name: 'b' });
      await Pet.bulkWrite([
        { updateOne: { filter: { name: 'd' }, update: { $inc: { n: 1 } }, upsert: true } },
      ]);
      expect(await Pet.estimatedDocumentCount()).to.equal(3);
    } finally {
      await connection.close();
    }
  });
});
