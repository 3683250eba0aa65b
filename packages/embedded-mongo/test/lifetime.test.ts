import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoNetworkError } from 'mongodb';
import { holdOwner, takeFolder } from '../src/folder/lock.js';
import { type OpenedMongo, openEmbeddedMongo, type Watcher } from '../src/open.js';
import { failure } from './support/driver.js';
import { eventually } from './support/eventually.js';
import { useFolder } from './support/folder.js';
import { countIn, insertInto, withRows } from './support/rows.js';

/** Notes what a user is told, and lets a test wait for it. */
function createWatcher(): Watcher & { told: string[]; hears(word: string, times?: number): Promise<void> } {
  const told: string[] = [];
  let wake = () => {};
  const tell = (word: string) => {
    told.push(word);
    wake();
  };
  return {
    told,
    onLost: () => tell('lost'),
    onBack: () => tell('back'),
    onGone: (error) => tell(`gone: ${error.message}`),
    async hears(word, times = 1) {
      while (told.filter((one) => one.startsWith(word)).length < times)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
  };
}

describe('embedded database: how long it lives', () => {
  let dataDir: string;
  useFolder((made) => {
    dataDir = made;
  });
  let folder: string;
  const opened: OpenedMongo[] = [];

  beforeEach(async () => {
    folder = join(dataDir, 'mongo');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });

  async function open(watcher?: Watcher): Promise<OpenedMongo> {
    const one = await openEmbeddedMongo(dataDir, { watcher });
    opened.push(one);
    return one;
  }

  /** Ends the process that serves the folder, as the kernel does when memory is short. */
  async function killDatabase(): Promise<void> {
    const hold = await holdOwner(folder);
    process.kill(hold?.pid as number, 'SIGKILL');
    await hold?.lost;
  }

  it('leads a process group of its own, which Ctrl-C in the terminal of its users does not reach', async () => {
    await open();
    const hold = await holdOwner(folder);
    expect(process.kill(-(hold?.pid as number), 0)).to.equal(true);
    await hold?.release();
  });

  it('is shared by all who open it, and ends with the last one, whoever started it', async () => {
    const [one, two, three] = (await Promise.all([open(), open(), open()])) as [
      OpenedMongo,
      OpenedMongo,
      OpenedMongo,
    ];
    expect(new Set([one.uri, two.uri, three.uri]).size).to.equal(1);
    await insertInto(one.uri);
    await one.close();
    await two.close();
    expect(await countIn(three.uri)).to.equal(1);
    await three.close();
    expect(await holdOwner(folder)).to.equal(undefined);
    expect(existsSync(join(folder, 'db.sock'))).to.equal(false);
    const again = await open();
    expect(await countIn(again.uri)).to.equal(1);
  });

  it('stays for a client that is connected, when the last who held it is gone', async () => {
    const one = await open();
    await withRows(one.uri, async (rows) => {
      await rows.countDocuments();
      await one.close();
      await rows.insertOne({ _id: 1 });
    });
    await eventually(async () => (await takeFolder(folder)).release());
  });

  it('is started again for who watches it, at the same address, with all that was acknowledged', async () => {
    const watcher = createWatcher();
    const { uri } = await open(watcher);
    await insertInto(uri);
    for (let times = 1; times <= 2; times++) {
      await killDatabase();
      await watcher.hears('back', times);
      expect(await countIn(uri)).to.equal(1);
    }
    expect(watcher.told).to.deep.equal(['lost', 'back', 'lost', 'back']);
  });

  it('a client that stays connected goes on after a loss', async () => {
    const watcher = createWatcher();
    const { uri } = await open(watcher);
    await withRows(uri, async (rows) => {
      await rows.insertOne({ _id: 1 });
      await killDatabase();
      await watcher.hears('back');
      // Connections of its pool may each fail once.
      await rows.countDocuments().catch((error) => expect(error).to.be.instanceOf(MongoNetworkError));
      await rows.insertOne({ _id: 2 });
      expect(await rows.countDocuments()).to.equal(2);
    });
  });

  it('of several who watch it one starts it, and all have it', async () => {
    const watchers = [createWatcher(), createWatcher(), createWatcher()];
    const [one] = await Promise.all(watchers.map(open));
    await killDatabase();
    await Promise.all(watchers.map((watcher) => watcher.hears('back')));
    expect(await countIn(one?.uri ?? '')).to.equal(0);
  });

  it('logs the connection string that its users have', async () => {
    const { uri, close } = await openEmbeddedMongo(dataDir, { database: 'shop' });
    await close();
    const log = await readFile(join(dataDir, 'logs', 'database.log'), 'utf8');
    const serving = log.split('\n').find((line) => line.includes('"serving"'));
    expect(JSON.parse(serving ?? '{}').uri).to.equal(uri);
  });

  it('says so when its data is gone, instead of serving an empty one', async () => {
    const watcher = createWatcher();
    await open(watcher);
    await rename(folder, `${folder}.away`);
    const hold = await holdOwner(`${folder}.away`);
    process.kill(hold?.pid as number, 'SIGKILL');
    await watcher.hears('gone');
    expect(watcher.told[1]).to.match(/^gone: the data of .+ is gone$/);
  });

  it('reports why it cannot start', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'format-version'), '99\n');
    expect((await failure(open())).message).to.contain('data format 99');
  });

  it('keeps its log from other users, also where an older release did not', async () => {
    await mkdir(join(dataDir, 'logs'), { mode: 0o755 });
    await open();
    expect(((await stat(join(dataDir, 'logs'))).mode & 0o777).toString(8)).to.equal('700');
  });

  it('starts where its log cannot be kept', async () => {
    await writeFile(join(dataDir, 'logs'), 'in the way');
    expect(await countIn((await open()).uri)).to.equal(0);
  });
});
