import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Double, EJSON, Long, ObjectId } from 'bson';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { countAll, dump, restore } from '../src/dump.js';
import { checkDump } from '../src/dump-files.js';
import { type EmbeddedMongo, startEmbeddedMongo } from '../src/server.js';
import { failure } from './support/driver.js';
import { useFolder } from './support/folder.js';

describe('embedded database: dump and restore', () => {
  const servers: EmbeddedMongo[] = [];
  const clients: MongoClient[] = [];
  let folder: string;
  useFolder((made) => {
    folder = made;
  });

  const start = async () => {
    const server = await startEmbeddedMongo({ storage: 'memory' });
    const client = await new MongoClient(server.uri, { promoteValues: false }).connect();
    servers.push(server);
    clients.push(client);
    return { uri: server.uri, db: client.db() };
  };

  const fill = async () => {
    const { uri, db } = await start();
    await db.collection('typed').insertOne({
      _id: new ObjectId('650000000000000000000001'),
      long: Long.fromNumber(5),
      double: new Double(5),
      date: new Date(1),
      bytes: Buffer.from([1, 2]),
      nested: { list: [null, 'a', true] },
    });
    await db
      .collection<{ _id: number }>('many')
      .insertMany(
        Array.from({ length: 2500 }, (_, i) => ({ _id: i, room: i % 7, seq: i, text: 'x'.repeat(1000) })),
      );
    await db.collection('many').createIndexes([
      { key: { room: 1, seq: -1 }, unique: true, name: 'room_seq' },
      { key: { seq: 1 }, partialFilterExpression: { room: 2 }, name: 'partial' },
    ]);
    await db.createCollection('empty');
    return { uri, db };
  };

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    for (const server of servers.splice(0)) await server.close();
  });

  it('carries a record about the data, or that there was none, and calls once all is there', async () => {
    const versionIn = (db: Db) =>
      db.collection('schema').findOne({}, { projection: { _id: 0, restored: 0 } });
    const onRestored = (db: Db) => db.collection('schema').updateOne({}, { $set: { restored: true } });
    const options = { about: 'schema', onRestored };
    const [old, current, target] = [await fill(), await start(), await start()];
    await current.db.collection('schema').insertOne({ _id: 'schema' as never, prepared: 1, finished: 1 });
    await target.db.collection('schema').insertOne({ _id: 'schema' as never, prepared: 2, finished: 2 });
    await dump(current.uri, join(folder, 'current'));
    await restore(target.uri, join(folder, 'current'), options);
    expect(EJSON.serialize(await versionIn(target.db))).to.deep.equal({ prepared: 1, finished: 1 });
    expect(await target.db.collection('schema').findOne({})).to.include({ restored: true });
    await dump(old.uri, join(folder, 'old'));
    await restore(target.uri, join(folder, 'old'), options);
    expect(await versionIn(target.db)).to.equal(null);
  });

  it('does not restore beside other data, which keeps its version', async () => {
    const [from, to] = [await fill(), await start()];
    await dump(from.uri, join(folder, 'dump'));
    await to.db.collection('schema').insertOne({ _id: 'schema' as never, prepared: 1, finished: 1 });
    // Not in the dump.
    await to.db.collection('other').insertOne({ a: 1 });
    const refused = await failure(restore(to.uri, join(folder, 'dump'), { about: 'schema' }));
    expect(refused.message).to.match(/^the collection \S+\.other is not empty: /);
    expect(await to.db.collection('schema').findOne({ prepared: 1 })).not.to.equal(null);
    expect(await to.db.collection('typed').findOne({})).to.equal(null);
  });

  it('replaces all that the database holds if it is told to', async () => {
    const [from, to] = [await fill(), await start()];
    await dump(from.uri, join(folder, 'dump'));
    await to.db.collection('schema').insertOne({ _id: 'schema' as never, prepared: 1, finished: 1 });
    await to.db.collection('other').insertOne({ a: 1 });
    await to.db.collection('many').insertOne({ a: 1 });
    expect(await restore(to.uri, join(folder, 'dump'), { drop: true, about: 'schema' })).to.equal(
      await countAll(from.uri),
    );
    expect(await countAll(to.uri)).to.equal(await countAll(from.uri));
    const names = (await to.db.listCollections().toArray()).map(({ name }) => name);
    expect(names).not.to.include('other');
  });

  it('carries documents, number types and indexes to another server', async () => {
    const from = await fill();
    const dumped: [string, number][] = [];
    const restored: [string, number][] = [];
    const count = await dump(from.uri, folder, (...progress) => dumped.push(progress));
    expect([count, await countAll(from.uri), await checkDump(folder)]).to.deep.equal([2501, 2501, 2501]);
    expect(dumped).to.deep.equal([
      ['empty', 0],
      ['many', 1000],
      ['many', 1000],
      ['many', 500],
      ['typed', 1],
    ]);
    expect((await readdir(join(folder, 'test'))).sort()).to.deep.equal([
      'empty.bson',
      'empty.metadata.json',
      'many.bson',
      'many.metadata.json',
      'typed.bson',
      'typed.metadata.json',
    ]);
    const to = await start();
    await restore(to.uri, folder, { onProgress: (...progress) => restored.push(progress) });
    expect(restored).to.deep.equal(dumped);
    for (const name of ['typed', 'many', 'empty']) {
      // As text: chai compares thousands of documents slowly.
      const text = async (db: Db) =>
        EJSON.stringify(await db.collection(name).find().toArray(), { relaxed: false });
      expect(await text(to.db)).to.equal(await text(from.db));
      expect(await to.db.collection(name).indexes()).to.deep.equal(await from.db.collection(name).indexes());
    }
  });

  it('writes what mongodump writes: BSON documents one after the other, metadata in extended JSON', async () => {
    const { uri } = await fill();
    await dump(uri, folder);
    const bytes = await readFile(join(folder, 'test', 'typed.bson'));
    expect(bytes.readInt32LE(0)).to.equal(bytes.length);
    const metadata = JSON.parse(await readFile(join(folder, 'test', 'many.metadata.json'), 'utf8'));
    expect(metadata).to.deep.include({ collectionName: 'many', type: 'collection', options: {} });
    expect(metadata.indexes[1]).to.deep.include({
      name: 'room_seq',
      unique: true,
      key: { room: { $numberInt: '1' }, seq: { $numberInt: '-1' } },
    });
  });

  it('restores documents without metadata', async () => {
    const { uri } = await fill();
    await dump(uri, folder);
    await rm(join(folder, 'test', 'many.metadata.json'));
    const to = await start();
    expect(await restore(to.uri, folder)).to.equal(2501);
    expect(await to.db.collection('many').indexes()).to.have.lengthOf(1);
  });

  it('refuses a folder that is there, collections that are not empty, and damaged files', async () => {
    const { uri } = await fill();
    await dump(uri, folder);
    const message = async (call: Promise<unknown>) => (await failure(call)).message;
    expect(await message(dump(uri, folder))).to.contain('exists already');
    expect((await readdir(folder)).sort()).to.deep.equal(['test']);
    expect(await message(restore(uri, folder))).to.contain('is not empty');
    const file = join(folder, 'test', 'many.bson');
    await truncate(file, (await readFile(file)).length - 3);
    expect(await message(restore((await start()).uri, folder))).to.contain('in the middle of a document');
    expect(await message(checkDump(folder))).to.contain('in the middle of a document');
    await appendFile(join(folder, 'test', 'empty.bson'), Buffer.from([1, 0, 0, 0]));
    expect(await message(restore((await start()).uri, folder))).to.contain('damaged at byte 0');
    expect(await message(restore(uri, join(folder, '..', 'no-such-folder')))).to.contain('does not exist');
    await mkdir(join(folder, 'second.unfinished'));
    expect(await message(restore(uri, folder)), 'an unfinished dump is none').to.contain('is not empty');
    await mkdir(join(folder, 'second'));
    expect(await message(restore(uri, folder))).to.contain('holds 2 folders: name that of one database');
    expect(await message(restore(uri, join(folder, 'second')))).to.contain('holds no dump');
    expect(await message(restore(uri, file))).to.contain('is a file: name a folder');
    expect(await message(dump(uri, file))).to.contain('is a file: name a folder');
    expect(await message(dump((await start()).uri, join(folder, 'third')))).to.contain(
      'the database is empty',
    );
  });

  it('keeps one of two dumps made at once, whole, and for this user alone', async () => {
    const { uri } = await fill();
    const outcomes = await Promise.allSettled([dump(uri, folder), dump(uri, folder)]);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.map(({ message }) => message)).to.deep.equal([
      `${join(folder, 'test')} exists already: name another folder`,
    ]);
    expect(await readdir(folder)).to.deep.equal(['test']);
    expect(await checkDump(folder)).to.equal(await countAll(uri));
    expect((await stat(join(folder, 'test'))).mode & 0o777).to.equal(0o700);
  });

  it('leaves nothing of a dump that is aborted', async () => {
    const { uri } = await fill();
    const interruption = new AbortController();
    const dir = join(folder, 'new');
    const aborted = dump(uri, dir, (name) => name === 'many' && interruption.abort(), interruption.signal);
    expect((await failure(aborted)).name).to.equal('AbortError');
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('drops again what a restore that fails or is aborted has stored', async () => {
    const { uri } = await fill();
    await dump(uri, folder);
    const to = await start();
    const names = async () => (await to.db.listCollections().toArray()).map(({ name }) => name);

    const interruption = new AbortController();
    const aborted = restore(to.uri, folder, {
      onProgress: (name) => name === 'many' && interruption.abort(),
      signal: interruption.signal,
    });
    expect((await failure(aborted)).name).to.equal('AbortError');
    expect(await names()).to.deep.equal([]);

    const path = join(folder, 'test', 'typed.bson');
    await appendFile(path, await readFile(path));
    expect((await failure(restore(to.uri, folder))).message).to.match(
      /^test\.typed cannot be restored: E11000 /,
    );
    expect(await names()).to.deep.equal([]);
  });

  it('names the damaged file before anything is restored', async () => {
    const { uri } = await fill();
    await dump(uri, folder);
    const metadata = join(folder, 'test', 'many.metadata.json');
    await writeFile(metadata, '{');
    expect((await failure(checkDump(folder))).message).to.contain(`${metadata} is damaged: `);
    for (const text of ['null', '{"indexes":5}', '{"indexes":[null]}', '{"indexes":[{"name":"a"}]}']) {
      await writeFile(metadata, text);
      expect((await failure(checkDump(folder))).message, text).to.contain(`${metadata} is damaged: `);
    }
    await rm(metadata);
    await mkdir(metadata);
    expect((await failure(checkDump(folder))).message).to.equal(`${metadata} is a folder`);
    await rm(metadata, { recursive: true });
    await writeFile(metadata, '{}');
    for (const name of ['%E0.bson', '%.bson', '.bson', 'a%00b.bson', '$x.bson']) {
      const path = join(folder, 'test', name);
      await writeFile(path, '');
      expect((await failure(checkDump(folder))).message, name).to.equal(
        `${path} has no name of a collection: it is not percent-encoded UTF-8, starts with a dot, or holds NUL or $`,
      );
      await rm(path);
    }
    const twin = join(folder, 'test', '%6Dany.bson');
    await writeFile(twin, '');
    expect((await failure(checkDump(folder))).message).to.equal(
      `${twin} and ${join(folder, 'test', 'many.bson')} are both the collection many`,
    );
    await rm(twin);
    const documents = join(folder, 'test', 'many.bson');
    await rename(documents, `${documents}.away`);
    expect((await failure(checkDump(folder))).message).to.equal(
      `${documents} is missing: the dump is not whole`,
    );
    await rename(`${documents}.away`, documents);
    for (const name of await readdir(join(folder, 'test')))
      await rename(join(folder, 'test', name), join(folder, 'test', `${name}.gz`));
    expect((await failure(checkDump(folder))).message).to.contain('is compressed: gunzip its files first');
    await rename(join(folder, 'test'), join(folder, 'test.unfinished'));
    expect((await failure(checkDump(folder))).message).to.contain('holds an interrupted dump only');
  });
});
