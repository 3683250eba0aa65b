import { expect } from 'chai';
import mongoose from 'mongoose';
import { failure, useDriver } from './support/driver.js';

/** What the documents of the mongoose test have. */
interface PetFields {
  name?: string;
  tags: mongoose.Types.Array<string>;
  comments: mongoose.Types.DocumentArray<{ text?: string }>;
  meta?: Map<string, number>;
  owner?: mongoose.Types.ObjectId;
}

describe('embedded database: mongoose', () => {
  const { uri } = useDriver();

  it('runs mongoose: schema, defaults, save, populate, errors and indexes', async () => {
    const connection = await mongoose.createConnection(uri(), { bufferCommands: false }).asPromise();
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
    const connection = await mongoose.createConnection(uri(), { bufferCommands: false }).asPromise();
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
