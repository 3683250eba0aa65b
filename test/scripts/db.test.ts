import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { claimDataDir } from '../../scripts/start/claim-data-dir.js';
import { openScratch, runHere, type Scratch } from './script-runs.js';

describe('npm run db', () => {
  let scratch: Scratch;
  const db = (...args: string[]) => runHere('scripts/db.js', args, scratch.settings);
  before(async () => {
    scratch = await openScratch();
    await scratch.collection('members').insertOne({ email: 'a@example.org' });
  });
  after(() => scratch.close());

  it('dumps to a new folder in DATA_DIR/backups, or to the named one', async () => {
    const run = await db('dump');
    const backups = join(scratch.folder, 'backups');
    const [dir = ''] = readdirSync(backups);
    expect(dir).to.match(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/);
    expect(run).to.deep.equal({
      status: 0,
      stdout: `Dumped 1 documents to ${join(backups, dir)}\n`,
      stderr: '',
    });
    expect(await db('dump', 'named')).to.include({ status: 0, stdout: 'Dumped 1 documents to named\n' });
    const again = await db('dump', 'named');
    expect(again.status).to.equal(1);
    expect(again.stderr).to.match(/^named\/\w+ exists already: name another folder\n$/);
  });

  it('restores into an empty database only', async () => {
    expect((await db('restore', 'named')).stderr).to.match(
      /^the collection \w+\.members is not empty: restore into /,
    );
    await scratch.collection('members').drop();
    const run = await db('restore', 'named');
    expect(run).to.deep.equal({
      status: 0,
      stdout: 'Restored 1 documents from named. Before you start the service: npm run verify\n',
      stderr: '',
    });
    expect(await scratch.collection('members').countDocuments({ email: 'a@example.org' })).to.equal(1);
  });

  it('replaces what the database holds with --drop, unless a service runs on it', async () => {
    const members = scratch.collection('members');
    await members.insertOne({ email: 'b@example.org' });
    const beats = scratch.collection('heartbeats');
    await beats.insertOne({ _id: 'process 7 on here, 1' as never, at: new Date() });
    expect(await db('restore', 'named', '--drop')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr:
        'process 7 on here, 1: the service runs on this database, stop it first (a killed process counts for 90 s)\n',
    });
    expect(await members.countDocuments()).to.equal(2);
    await beats.deleteMany({});
    expect(await db('restore', 'named', '--drop')).to.include({ status: 0, stderr: '' });
    const emails = (await members.find().toArray()).map(({ email }) => email);
    expect(emails).to.deep.equal(['a@example.org']);
  });

  it('refuses wrong arguments with status 2, each in its words', async () => {
    const lines: [string[], string][] = [
      [[], 'dump or restore?'],
      [['save', 'x'], 'there is no action save'],
      [['restore'], 'restore needs the folder of a dump'],
      [['dump', 'a', 'b'], 'dump takes one folder'],
      [['dump', '--drop'], 'dump takes no --drop'],
    ];
    for (const [args, line] of lines) {
      const { status, stderr } = await db(...args);
      expect({ status, line: stderr.split('\n')[0] }).to.deep.equal({ status: 2, line });
    }
  });

  it('neither creates an embedded database to dump it, nor restores one that a service uses', async () => {
    const settings = { DATA_DIR: scratch.folder };
    const missing = { status: 1, stdout: '', stderr: `DATA_DIR: ${scratch.folder} holds no database\n` };
    expect(await runHere('scripts/db.js', ['dump'], settings)).to.deep.equal(missing);
    // Nor does another command that is for data which exists.
    for (const [script, ...args] of [['verify'], ['announce', 'Hello'], ['migrate']])
      expect(await runHere(`scripts/${script}.js`, args, settings), script).to.deep.equal(missing);
    const claim = await claimDataDir({ DATA_DIR: scratch.folder } as never);
    const restored = await runHere('scripts/db.js', ['restore', 'named'], settings);
    claim.release();
    expect(restored.stderr).to.match(new RegExp(`^DATA_DIR: process ${process.pid} serves `));
    expect(restored.status).to.equal(1);
  });
});
