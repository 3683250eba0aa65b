import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import '../../domain/domain.js';
import { openEmbeddedMongo } from 'embedded-mongo';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { prepareDatabase } from '../../domain/platform/mongo/migrate.js';
import { runHere } from './script-runs.js';

describe('an embedded database with data of an older release', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof openEmbeddedMongo>>;
  let client: MongoClient;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-migrate-'));
    database = await openEmbeddedMongo(folder, { database: 'adoption' });
    client = new MongoClient(database.uri);
    await client
      .db()
      .collection('notifications')
      .insertOne({ memberNo: 1, n: 1, cause: 'a', url: 'board/1' });
  });
  after(async () => {
    await client.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const command = (name: string, ...args: string[]) =>
    runHere(`scripts/${name}.js`, args, { DATA_DIR: folder });

  /** Every collection with its records and indexes, and the state of the schema. */
  async function contents(): Promise<Record<string, Document[]>> {
    const found: Record<string, Document[]> = {};
    for (const { name } of await client.db().listCollections().toArray()) {
      const collection = client.db().collection(name);
      found[name] = [...(await collection.find().toArray()), ...(await collection.indexes())];
    }
    return found;
  }

  it('is only read by verify, doctor and db dump', async () => {
    const before = await contents();
    const { status, stdout, stderr } = await command('verify');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.match(/^the database has schema version 0, this release needs 1: npm run migrate /);
    expect((await command('doctor')).stdout).to.match(/^warning +schema +schema version 0: the next start /m);
    expect((await command('db', 'dump', join(folder, 'dump'))).status).to.equal(0);
    expect(await contents()).to.deep.equal(before);
  });

  it('is prepared by verify --repair, and the next start says that it finishes that', async () => {
    await command('verify', '--repair');
    expect(await client.db().collection('schema').findOne({})).to.include({ prepared: 1, finished: 0 });
    const said: string[] = [];
    await connectMongo(database.uri);
    for (let start = 0; start < 2; start += 1)
      await prepareDatabase(database.uri, 'finish', (text) => said.push(text));
    await disconnectMongo();
    expect(said).to.deep.equal([
      'the database is prepared for schema version 1: finishing the migration to it',
      '0: notifications get a path that begins with a slash',
      '0: indexes that no query uses any more are dropped',
    ]);
  });
});
