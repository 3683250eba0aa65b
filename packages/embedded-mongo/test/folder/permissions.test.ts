import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openEmbeddedMongo } from '../../src/open.js';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('embedded database: permissions', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'embedded-permissions-'));
    // As a folder for everybody: the test's own one is private already.
    chmodSync(dataDir, 0o755);
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  for (const [name, prepare] of [
    ['a new folder', () => {}],
    ['a folder that others could enter', () => mkdirSync(join(dataDir, 'mongo'), { mode: 0o755 })],
  ] as const)
    it(`${name} and all that is in it are this user's alone`, async () => {
      prepare();
      const database = await openEmbeddedMongo(dataDir);
      const client = await new MongoClient(database.uri).connect();
      await client.db().collection<{ _id: number }>('rows').insertOne({ _id: 1 });
      await client.close();
      const folder = join(dataDir, 'mongo');
      const modes = Object.fromEntries(readdirSync(folder).map((file) => [file, modeOf(join(folder, file))]));
      await database.close();
      expect(modeOf(folder)).to.equal('700');
      expect(modes).to.include.keys('data.mdb', 'lock.mdb', 'db.sock', 'format-version');
      for (const [file, mode] of Object.entries(modes))
        expect(mode, file).to.match(file.endsWith('.sock') || file.startsWith('owner') ? /^700$/ : /^600$/);
    });
});
