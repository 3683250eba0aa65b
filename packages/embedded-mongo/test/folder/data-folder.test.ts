import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { makeDataFolder } from '../../src/folder/data-folder.js';
import { holdOwner, type Lock, takeFolder } from '../../src/folder/lock.js';
import { openEmbeddedMongo } from '../../src/open.js';
import { startEmbeddedMongo } from '../../src/server.js';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { failure } from '../support/driver.js';
import { useFolder } from '../support/folder.js';
import { countIn, insertInto } from '../support/rows.js';

const SERVER = new URL('../../src/server.js', import.meta.url).href;
const LOCK = new URL('../../src/folder/lock.js', import.meta.url).href;

/**
 * A process in a PID namespace of its own, as in another container with the same volume. Where the system does not
 * allow that (containers without privileges), the process is an ordinary one, and what is tested holds all the same.
 */
const ELSEWHERE = ['-r', '-p', '-n', '-f', '--kill-child'];
const canUnshare = spawnSync('unshare', [...ELSEWHERE, 'true']).status === 0;

/** Takes the folder in such a process, and keeps it; resolves to what came of it. */
async function takeElsewhere(folder: string) {
  const script = `
    import { takeFolder } from ${JSON.stringify(LOCK)};
    takeFolder(${JSON.stringify(folder)}).then(
      (lock) => { lock.publish(); console.log('taken'); },
      (error) => console.log(error.message));
    process.stdin.resume().on('end', () => process.exit());`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  const [command, ...args] = canUnshare ? ['unshare', ...ELSEWHERE, ...node] : node;
  const child = spawn(command as string, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [said] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    said,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}

describe('embedded database: the owner of a folder', () => {
  let dataDir: string;
  useFolder((made) => {
    dataDir = made;
  });
  let folder: string;

  beforeEach(async () => {
    folder = join(dataDir, 'mongo');
    await mkdir(folder);
  });

  it('refuses a second one, also from another PID and network namespace', async () => {
    const lock = await takeFolder(folder);
    lock.publish();
    expect((await failure(takeFolder(folder))).message).to.contain(`in use by process ${process.pid}`);
    const other = await takeElsewhere(folder);
    expect(other.said).to.contain('in use by process');
    await other.end();
    lock.release();
  });

  it('is seen from here when it lives in another namespace, and gone when it was killed', async () => {
    const other = await takeElsewhere(folder);
    expect(other.said).to.equal('taken');
    expect((await failure(takeFolder(folder))).message).to.contain('in use by process');
    const hold = await holdOwner(folder);
    await other.kill();
    await hold?.lost;
    (await takeFolder(folder)).release();
  });

  it('lets one of many have it, again and again', async () => {
    for (let round = 0; round < 5; round++) {
      const tries = Array.from({ length: 8 }, () =>
        takeFolder(folder).then(
          (lock) => {
            lock.publish();
            return lock;
          },
          () => undefined,
        ),
      );
      const taken = (await Promise.all(tries)).filter((lock): lock is Lock => lock !== undefined);
      expect(taken).to.have.lengthOf(1);
      taken[0]?.release();
    }
    expect(await readdir(folder), 'only the last socket is left').to.deep.equal(['owner.5']);
  });

  it('is the later one, where a number became free because later owners have tidied up', async () => {
    (await takeFolder(folder)).release();
    const elsewhere = join(dataDir, 'elsewhere');
    await mkdir(elsewhere);
    const lock = await takeFolder(elsewhere);
    lock.publish();
    // Has seen that owner 1 is dead, and is about to take number 2.
    const slow = failure(takeFolder(folder));
    renameSync(join(elsewhere, 'owner.1'), join(folder, 'owner.3'));
    rmSync(join(folder, 'owner.1'));
    expect((await slow).message).to.contain('in use by process');
    expect(await readdir(folder)).to.deep.equal(['owner.3']);
    lock.release();
  });

  it('says so when it neither serves nor ends', async () => {
    const lock = await takeFolder(folder);
    expect((await failure(takeFolder(folder, 100))).message).to.contain('does not answer');
    lock.release();
  });

  it('needs a path that a socket can have, and says so before it makes anything', async () => {
    const deep = join(dataDir, 'x'.repeat(100));
    const said = (await failure(openEmbeddedMongo(deep))).message;
    expect(said).to.match(/^socket: .+ is longer than the \d+ bytes .+ relative to the working folder$/);
    expect(existsSync(deep)).to.equal(false);
  });

  it('takes spaces and signs in its path, except the one that the driver decodes twice', async () => {
    const odd = join(dataDir, "ä b:@?#,'&+");
    const opened = await openEmbeddedMongo(odd);
    expect(await countIn(opened.uri)).to.equal(0);
    await opened.close();
    const said = (await failure(openEmbeddedMongo(join(dataDir, '100%')))).message;
    expect(said).to.match(/^data folder: .+\/100% has a %/);
  });

  it('names the setting to whom the folder is closed', async () => {
    const script = `
      import { holdOwner } from ${JSON.stringify(LOCK)};
      import { startEmbeddedMongo } from ${JSON.stringify(SERVER)};
      const dataDir = ${JSON.stringify(dataDir)};
      if (process.getuid() === 0) process.setuid(65534);
      for (const use of [holdOwner(${JSON.stringify(folder)}), startEmbeddedMongo({ storage: 'lmdb', dataDir })])
        await use.catch((error) => console.log(error.message));`;
    await chmod(folder, 0);
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    await chmod(folder, 0o700);
    expect(stdout).to.match(/^(data folder: this user may not read and write all of .+: EACCES.*\n){2}$/);
  });
});

describe('embedded database: the format of a folder', () => {
  let dataDir: string;
  useFolder((made) => {
    dataDir = made;
  });
  let mark: string;

  beforeEach(async () => {
    mark = join(dataDir, 'mongo', 'format-version');
  });

  async function serveOnce({ inserts = false } = {}): Promise<number> {
    const server = await startEmbeddedMongo({ storage: 'lmdb', dataDir });
    try {
      if (inserts) await insertInto(server.uri);
      return await countIn(server.uri);
    } finally {
      await server.close();
    }
  }

  for (const [what, content] of [
    ['empty', ''],
    ['of zeros, as a power cut may leave it,', '\0\0'],
  ] as const)
    it(`a mark that is ${what} before the first record is written again`, async () => {
      await mkdir(join(dataDir, 'mongo'));
      await writeFile(mark, content);
      expect(await serveOnce({ inserts: true })).to.equal(1);
      await rm(mark);
      expect((await failure(serveOnce())).message).to.contain('format-version');
    });

  it('a crash before the mark, with an empty store, is mended as well', async () => {
    await new LmdbStorage(makeDataFolder(dataDir)).close();
    expect(existsSync(mark)).to.equal(false);
    expect(await serveOnce({ inserts: true })).to.equal(1);
    expect(await serveOnce()).to.equal(1);
  });

  /** Half of the bytes of a new store: LMDB writes both roots at once. */
  const half = (bytes: Buffer, which: 'first' | 'second') =>
    which === 'first'
      ? bytes.subarray(0, bytes.length / 2)
      : Buffer.concat([Buffer.alloc(bytes.length / 2), bytes.subarray(bytes.length / 2)]);

  for (const [what, cut] of [
    ['empty', () => Buffer.alloc(0)],
    ['a sector of zeros', () => Buffer.alloc(512)],
    ['as long as it was to be, of zeros', (whole: Buffer) => Buffer.alloc(whole.length)],
    ['without its second root', (whole: Buffer) => half(whole, 'first')],
    ['without its first root', (whole: Buffer) => half(whole, 'second')],
  ] as const)
    it(`a store that is ${what}, as a power cut during the first start may leave it, is made again`, async () => {
      const folder = makeDataFolder(dataDir);
      await new LmdbStorage(folder).close();
      const file = join(folder, 'data.mdb');
      await writeFile(file, cut(await readFile(file)));
      expect(await serveOnce({ inserts: true })).to.equal(1);
      expect(await serveOnce()).to.equal(1);
    });

  it('an empty mark beside data is refused in one line that says what to do, and the data stays', async () => {
    await serveOnce({ inserts: true });
    await copyFile(mark, `${mark}.kept`);
    await writeFile(mark, '');
    const said = (await failure(serveOnce())).message;
    expect(said).to.match(
      /format-version is missing or empty, but the folder holds data\. .* write 1 into that file/,
    );
    await copyFile(`${mark}.kept`, mark);
    expect(await serveOnce()).to.equal(1);
  });
});
