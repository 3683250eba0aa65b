import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Engine } from '../src/commands/engine.js';
import { startEmbeddedMongo } from '../src/server.js';
import { identRange } from '../src/storage/collection.js';
import { LmdbStorage } from '../src/storage/storage.lmdb.js';
import { decode } from '../src/values/bson-types.js';
import { imageAt } from './power-loss/image.js';
import { Notes, type Row } from './power-loss/notes.js';
import { type FileEvent, readTrace, TRACED } from './power-loss/trace.js';
import { indexFaults } from './support/index-check.js';
import { createRandom } from './support/random.js';

const WRITER = fileURLToPath(new URL('./power-loss/writer.js', import.meta.url));
const IMAGES = Number(process.env.POWER_IMAGES ?? 100);
/** Rows of each writer. */
const ROUNDS = 12;

/** Writes, syncs and renames until a new folder has its mark. */
const FIRST_START = 8;

const hasStrace = spawnSync('strace', ['--version']).status === 0;

/** Everything that is wrong in a database folder. */
async function faultsIn(dataDir: string, notes: Notes): Promise<string[]> {
  await (await startEmbeddedMongo({ storage: 'lmdb', dataDir })).close();
  const storage = new LmdbStorage(join(dataDir, 'mongo'));
  const engine = new Engine(storage);
  try {
    const collection = engine.catalog.find('test', 'rows');
    if (!collection) return notes.faults([]);
    const records = storage.entries(identRange(collection.ident), Number.MAX_SAFE_INTEGER);
    return [
      ...notes.faults(records.map(({ value }) => decode(value) as unknown as Row)),
      ...indexFaults(engine, collection),
    ];
  } finally {
    await engine.close();
  }
}

describe('the embedded database after a power cut', () => {
  let folder: string;
  let dataDir: string;
  let events: FileEvent[];
  /** Lines that the writer noted. */
  let notes: FileEvent[];

  before(async function () {
    if (!hasStrace) this.skip();
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-mongo-power-')));
    dataDir = join(folder, 'data');
    const [log, noted] = [join(folder, 'log'), join(folder, 'notes')];
    const strace = [
      '-f',
      '--seccomp-bpf',
      '-qq',
      '-v',
      '-xx',
      '-s',
      '2000000',
      '-o',
      log,
      '-e',
      `trace=${TRACED}`,
    ];
    const { status, stderr } = spawnSync('strace', [
      ...strace,
      process.execPath,
      WRITER,
      dataDir,
      noted,
      `${ROUNDS}`,
    ]);
    expect(status, String(stderr)).to.equal(0);
    const all = await readTrace(log, folder);
    notes = all.filter((event) => event.kind === 'write' && event.file === noted);
    events = all.filter(({ file }) => file !== noted);
  });
  after(() => {
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Faults of the database in an image, which is removed. */
  async function faultsOf(contents: Map<string, Buffer>, moment: number): Promise<string[]> {
    const known = new Notes();
    for (const event of notes)
      if (event.kind === 'write' && event.from < moment) known.add(String(event.data).trim());
    const image = join(folder, 'image');
    mkdirSync(join(image, 'mongo'), { recursive: true, mode: 0o700 });
    for (const name of ['data.mdb', 'format-version']) {
      const bytes = contents.get(name);
      if (bytes) writeFileSync(join(image, 'mongo', name), bytes);
    }
    try {
      return await faultsIn(image, known);
    } catch (error) {
      return [`it does not open: ${(error as Error).message}`];
    } finally {
      rmSync(image, { recursive: true });
    }
  }

  it('51: has put its folder on disk before it takes the first write', () => {
    const synced = events.filter(({ kind }) => kind === 'sync').map(({ file, to }) => ({ file, to }));
    const asked = notes[0]?.from ?? 0;
    for (const path of [dataDir, join(dataDir, 'mongo')])
      expect(
        synced.some(({ file, to }) => file === path && to < asked),
        path,
      ).to.equal(true);
  });

  it(`51: holds everything acknowledged, and nothing by halves, in ${IMAGES} images of the disk`, async () => {
    const random = createRandom('POWER_SEED');
    const written = events.filter(({ kind, file }) => kind === 'write' && file.endsWith('data.mdb'));
    expect(written.length, 'writes traced').to.be.above(50);
    const momentsOf = (some: FileEvent[]) => some.flatMap(({ from, to }) => [from + 1, to + 1]);
    const [first, all] = [momentsOf(events.slice(0, FIRST_START)), momentsOf(written)];
    const failed: string[] = [];
    let unsynced = 0;
    for (let i = 0; i < IMAGES; i += 1) {
      // The first start has few moments, and is unlike the rest.
      const moment = random.pick(i % 4 === 0 ? first : all);
      const { contents, fate, open } = imageAt(events, moment, random);
      if (open > 0) unsynced += 1;
      for (const fault of await faultsOf(contents, moment))
        failed.push(`image ${i}, line ${moment}, ${fate}: ${fault}`);
    }
    expect(failed).to.deep.equal([]);
    expect(unsynced, 'images with writes that were not synced').to.be.above(IMAGES / 4);
  });
});
