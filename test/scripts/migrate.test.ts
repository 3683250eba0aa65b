import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from 'embedded-mongo/server';
import { type Db, type Document, MongoClient } from 'mongodb';
import { Shutdown } from '../../domain/platform/process/shutdown.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { startTcpProxy, type TcpProxy } from '../../scripts/command/tcp-proxy.js';
import { runService } from '../../scripts/start/run-service.js';
import { eventually } from '../support/eventually.js';
import { commandIn } from '../support/mongo-wire.js';
import { scansOf } from '../support/service.js';
import { createWatchedLogger } from '../support/unexpected-errors.js';
import { runHere, runScript, spawnScript } from './script-runs.js';

const FINISH_FIRST =
  'schema version 1 is prepared, not finished: npm run migrate -- --finish once no process of the release before runs\n';
const DONE = 'schema version 1: nothing is left to do\n';
const PATHS = 'notifications get a path that begins with a slash';
const INDEXES = 'indexes that no query uses any more are dropped';

/** Records of two pages of the conversion, each in the form of a release before version 1. */
const NOTIFICATIONS = 510;

const notification = (no: number, url: string): Document => ({
  _id: no,
  memberNo: no,
  n: 1,
  type: 'comment',
  content: 'A reply',
  url,
  originNo: 1,
  publishedAt: new Date(no * 1_000),
  checked: false,
  deleted: false,
  cause: `comment:${no}`,
});

/** Every record and index. */
async function contentsOf(db: Db): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const { name } of await db.listCollections().toArray()) {
    const collection = db.collection(name);
    contents[name] = {
      records: await collection.find().sort({ _id: 1 }).toArray(),
      indexes: (await collection.indexes()).map((index) => index.name),
    };
  }
  return contents;
}

describe('npm run migrate', () => {
  let database: EmbeddedMongo;
  let client: MongoClient;
  let db: Db;
  let folder: string;
  let settings: Record<string, string>;
  let proxy: TcpProxy | undefined;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-migrate-'));
    database = await startEmbeddedMongo({ storage: 'memory', database: 'adoption' });
    client = await new MongoClient(database.uri).connect();
    db = client.db();
    settings = { DATA_DIR: folder, MONGODB_URI: database.uri, HTTP_PORT: '0', GATEWAY_PORT: '0' };
  });
  after(async () => {
    await client.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await proxy?.close();
    proxy = undefined;
  });

  const migrate = (...args: string[]) => runHere('scripts/migrate.js', args, settings);
  /** A start that fails ends its process. */
  const run = (script: string) =>
    (script === 'start' ? runScript : runHere)(`scripts/${script}.js`, [], settings);
  const recorded = () =>
    db.collection<Document>('schema').findOne({}, { projection: { _id: 0, activity: 0, generation: 0 } });
  const urls = async () =>
    (await db.collection('notifications').find().sort({ _id: 1 }).toArray()).map(({ url }) => url);
  const indexNames = async (name: string) => (await db.collection(name).indexes()).map((index) => index.name);

  /** Data as a release before version 1 leaves it. */
  async function plantOldData(): Promise<void> {
    await db.collection('schema').deleteMany({});
    await db.collection('adoptionPosts').deleteMany({});
    await db.collection('adoptionPosts').insertOne({ _id: 1 as never, title: 'A calm cat', authorNo: 1 });
    if ((await indexNames('adoptionPosts')).includes('importKey_1'))
      await db.collection('adoptionPosts').dropIndex('importKey_1');
    await db.collection('articles').createIndex({ state: 1, authorNo: 1, _id: -1 });
    await db.collection('hearts').createIndex({ target: 1, id: 1, on: 1 });
    const all = Array.from({ length: NOTIFICATIONS }, (_, i) => notification(i + 1, `board/${i + 1}`));
    await db.collection('notifications').deleteMany({});
    await db
      .collection('notifications')
      .insertMany([...all, notification(900, '/chat/1'), notification(901, '')]);
  }
  const migratedUrls = [
    ...Array.from({ length: NOTIFICATIONS }, (_, i) => `/board/${i + 1}`),
    ...['/chat/1', '/'],
  ];

  /** A process whose first update of notifications is held. @returns it, with what passes the update on */
  async function startHeld(...args: string[]) {
    let pass: (() => void) | undefined;
    let held = false;
    proxy = await startTcpProxy(
      () => database.port,
      () => ({
        request(message, forward) {
          if (held || commandIn(message).update !== 'notifications') return forward(message);
          held = true;
          pass = () => forward(message);
        },
      }),
    );
    const uri = `mongodb://127.0.0.1:${proxy.port}/adoption`;
    const child = spawnScript('scripts/migrate.js', args, { ...settings, MONGODB_URI: uri });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    const ended = once(child, 'close').then(([status]) => ({ status, output }));
    await eventually(() => expect(held, output).to.equal(true));
    return { child, ended, pass: () => pass?.() };
  }

  /** Resolves when the process that migrates has shown twice more that it lives. */
  async function twoBeats(): Promise<void> {
    const beat = async () => (await recorded())?.lease.beat as number;
    const before = await beat();
    await eventually(async () => expect(await beat()).to.be.greaterThan(before + 1));
  }

  it('makes an empty database one of this release', async () => {
    const { status, stdout, stderr } = await migrate();
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^built: index adoptionPosts \{"importKey":1\} unique$/m);
    expect(stdout.endsWith(DONE)).to.equal(true);
    expect(await recorded()).to.deep.equal({ prepared: 1, finished: 1 });
    expect(await migrate('--finish')).to.deep.equal({ status: 0, stdout: DONE, stderr: '' });
  });

  it('is asked for by every process and command on data of an older version', async () => {
    await plantOldData();
    const before = await contentsOf(db);
    const line =
      'the database has schema version 0, this release needs 1: npm run migrate (processes of the release before may go on running)\n';
    for (const script of ['start', 'verify'])
      expect(await run(script)).to.deep.equal({
        ...{ status: 1, stdout: '', stderr: line },
      });
    expect(await contentsOf(db)).to.deep.equal(before);
  });

  it('looks for data without a version by an index, as monitoring counts collection scans', async () => {
    const before = await scansOf(db);
    expect(await run('verify')).to.include({ status: 1 });
    expect(await scansOf(db)).to.deep.equal(before);
  });

  it('changes nothing with --dry-run, and says what it would do', async () => {
    const before = await contentsOf(db);
    const lines = [
      'to build: index adoptionPosts {"importKey":1} unique',
      `${NOTIFICATIONS + 1} to do: ${PATHS}`,
    ];
    const unchanged = 'schema version 0 of 1: nothing was changed';
    expect(await migrate('--dry-run')).to.deep.equal({
      ...{ status: 0, stderr: '', stdout: [...lines, unchanged, ''].join('\n') },
    });
    expect(await migrate('--dry-run', '--finish')).to.deep.equal({
      ...{ status: 0, stderr: '', stdout: [...lines, `2 to do: ${INDEXES}`, unchanged, ''].join('\n') },
    });
    expect(await contentsOf(db)).to.deep.equal(before);
  });

  it('prepares the data beside the release before, and finishes it once that is gone', async () => {
    const post = await db.collection('adoptionPosts').findOne({});
    expect((await migrate()).stdout).to.equal(
      `built: index adoptionPosts {"importKey":1} unique\n${NOTIFICATIONS + 1}: ${PATHS}\n${FINISH_FIRST}`,
    );
    expect(await recorded()).to.deep.equal({ prepared: 1, finished: 0 });
    expect(await db.collection('adoptionPosts').find().toArray()).to.deep.equal([post]);
    const wanted = migratedUrls.map((url, i) =>
      notification(i < NOTIFICATIONS ? i + 1 : 900 + i - NOTIFICATIONS, url),
    );
    expect(await db.collection('notifications').find().sort({ _id: 1 }).toArray()).to.deep.equal(wanted);
    expect(await indexNames('articles')).to.include('state_1_authorNo_1__id_-1');
    // What the release before, which still runs, needs and writes.
    await db.collection<Document>('notifications').insertOne(notification(902, 'board/902'));
    expect((await migrate()).stdout).to.equal(FINISH_FIRST);
    expect((await runHere('scripts/verify.js', [], settings)).stdout).to.match(/sequence notification/);

    expect((await migrate('--finish')).stdout).to.equal(`1: ${PATHS}\n2: ${INDEXES}\n${DONE}`);
    expect(await recorded()).to.deep.equal({ prepared: 1, finished: 1 });
    expect(await urls()).to.deep.equal([...migratedUrls, '/board/902']);
    expect(await indexNames('articles')).to.not.include('state_1_authorNo_1__id_-1');
    expect(await indexNames('hearts')).to.not.include('target_1_id_1_on_1');
  });

  it('continues after a kill in the middle', async () => {
    await plantOldData();
    const { child, ended } = await startHeld('--finish');
    child.kill('SIGKILL');
    await ended;
    expect(await recorded()).to.have.keys('prepared', 'finished', 'lease');
    const { status, stdout } = await migrate('--finish');
    expect(stdout).to.match(/^process \d+ on .* is migrating: waiting for it\n/);
    expect(stdout.endsWith(`${NOTIFICATIONS + 1}: ${PATHS}\n2: ${INDEXES}\n${DONE}`)).to.equal(true);
    expect(status).to.equal(0);
    expect(await urls()).to.deep.equal(migratedUrls);
    expect(await recorded()).to.deep.equal({ prepared: 1, finished: 1 });
  });

  it('runs in one of two processes, and undoes nothing that others write meanwhile', async () => {
    await plantOldData();
    const { ended, pass } = await startHeld('--finish');
    const notifications = db.collection<Document>('notifications');
    await notifications.updateOne({ _id: 1 as never }, { $set: { url: '/changed' } });
    await notifications.deleteOne({ _id: 2 as never });
    const second = migrate('--finish');
    // It holds the lease only as long as it shows that it lives.
    await twoBeats();
    pass();
    expect(await ended).to.deep.equal({
      status: 0,
      output: `built: index adoptionPosts {"importKey":1} unique\n${NOTIFICATIONS - 1}: ${PATHS}\n2: ${INDEXES}\n${DONE}`,
    });
    const { status, stdout } = await second;
    expect({ status, stdout: stdout.replace(/^process \d+ on .*\n/, '') }).to.deep.equal({
      ...{ status: 0, stdout: DONE },
    });
    expect(await urls()).to.deep.equal(['/changed', ...migratedUrls.slice(2)]);
  });

  it('ends between two pages on SIGINT, and the next run continues at once', async () => {
    await plantOldData();
    const { child, ended, pass } = await startHeld();
    child.kill('SIGINT');
    await twoBeats();
    pass();
    expect(await ended).to.deep.equal({
      status: 130,
      output: 'built: index adoptionPosts {"importKey":1} unique\ninterrupted: the next run continues\n',
    });
    expect((await migrate()).stdout).to.equal(`11: ${PATHS}\n${FINISH_FIRST}`);
  });

  it('is part of the start on the embedded database', async () => {
    await plantOldData();
    const env = { NODE_ENV: 'test', HTTP_PORT: '0', GATEWAY_PORT: '0', DATA_DIR: folder, DEMO: 'off' };
    const logger = createWatchedLogger();
    const shutdown = new Shutdown(logger, 10_000);
    const { httpPort } = await runService(loadConfig(env, folder), logger, database.uri, shutdown);
    try {
      expect((await fetch(`http://127.0.0.1:${httpPort}/readyz`)).status).to.equal(200);
    } finally {
      await shutdown.begin('the test is over');
    }
    expect(await urls()).to.deep.equal(migratedUrls);
    expect(await recorded()).to.deep.equal({ prepared: 1, finished: 1 });
  });

  it('leaves the data of a newer release alone, which nothing starts on once its migration is finished', async () => {
    const set = (state: object) => db.collection('schema').updateOne({}, { $set: state });
    await set({ prepared: 2 });
    expect((await migrate()).stdout).to.equal(DONE);
    expect((await runHere('scripts/verify.js', [], settings)).stderr).to.equal('');
    await set({ finished: 2 });
    const before = await contentsOf(db);
    const refusal = {
      status: 1,
      stdout: '',
      stderr:
        'the database has schema version 2, written by a newer release; this one knows versions up to 1: start the newer one, or restore a backup from before it\n',
    };
    for (const script of ['start', 'verify', 'migrate'])
      expect(await run(script), script).to.deep.equal(refusal);
    await set({ prepared: 'x' });
    expect(await migrate()).to.deep.equal({
      ...refusal,
      stderr: 'the record of the collection schema is damaged: prepared, finished\n',
    });
    await set({ prepared: 2 });
    expect(await contentsOf(db)).to.deep.equal(before);
  });
});
