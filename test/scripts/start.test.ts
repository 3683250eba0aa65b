import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { holdOwner } from 'embedded-mongo/lock';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { startProgram } from '../support/child-process.js';
import { eventually } from '../support/eventually.js';

/** A module that the start, but not its database, imports first. */
const preload = (code: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`if (process.argv[1].endsWith('start.js')) {${code}}`)}`;

/** Ends the process by SIGINT as soon as it handles that: before it has loaded a package, else with another status. */
const INTERRUPTED = preload(`
  process.on('newListener', function onListener(name) {
    if (name !== 'SIGINT') return;
    process.off('newListener', onListener);
    if (Object.keys(process.getBuiltinModule('node:module')._cache).length > 0) process.exit(3);
    setImmediate(() => process.kill(process.pid, 'SIGINT'));
  });`);

/** Once the process opens its data, rejects without a handler, then throws. */
const FAULTY = preload(`
  const { existsSync } = process.getBuiltinModule('node:fs');
  const timer = setInterval(() => {
    if (!existsSync('mongo')) return;
    clearInterval(timer);
    Promise.reject(new Error('planted rejection'));
    setImmediate(() => { throw new Error('planted exception'); });
  }, 1);`);

/** Lacks a file that is read once the sockets are served and the event streams are set up. */
const INCOMPLETE = preload(`
  const fs = process.getBuiltinModule('node:fs');
  const { readFileSync } = fs;
  fs.readFileSync = (path, ...others) => {
    if (String(path).endsWith('docs.css')) throw new Error('docs.css is missing');
    return readFileSync(path, ...others);
  };
  process.getBuiltinModule('node:module').syncBuiltinESMExports();`);

/** Limits the size of files, as a full disk does: the database of this and of all processes that it starts takes a part of the sample data. */
const ON_A_FULL_DISK = preload(`
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=' + 200 * 1024]);`);

describe('npm start', () => {
  it('says first that it compiles, which takes a slow machine a while', async () => {
    const said = await promisify(execFile)('npm', ['start', '--', '--help'], { cwd: projectRoot() });
    expect(said.stderr).to.match(/^Compiling the project, then starting it: .*\n$/);
    expect(said.stdout).to.include('Usage: npm start');
  });
});

describe('npm start in its first second', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-start-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts it on the folder. */
  const start = (nodeOptions = '') =>
    startProgram({
      path: 'scripts/start.js',
      folder,
      env: {
        NODE_ENV: 'test',
        NODE_OPTIONS: nodeOptions,
        DATA_DIR: folder,
        HTTP_PORT: '0',
        GATEWAY_PORT: '0',
        LOG_LEVEL: 'error',
      },
    });

  /** Processes whose environment names the folder. */
  const processes = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    });

  /** Checks that nothing of it is left: no owner of a folder, no process. */
  async function expectReleased(): Promise<void> {
    const run = join(folder, 'run');
    if (existsSync(run)) expect(await holdOwner(run)).to.equal(undefined);
    if (process.platform === 'linux') await eventually(() => expect(processes()).to.deep.equal([]));
  }

  it('ends with status 0 by Ctrl-C as soon as it handles signals', async () => {
    const { child, output } = start(INTERRUPTED);
    expect(await once(child, 'close'), output.text).to.deep.equal([0, null]);
    expect(output.text).to.equal('');
    await expectReleased();
  });

  it('ends with status 0 by SIGTERM while it opens its data, which is free then', async () => {
    const { child, output } = start();
    const closed = once(child, 'close');
    await eventually(() => expect(existsSync(join(folder, 'mongo')), output.text).to.equal(true));
    child.kill('SIGTERM');
    expect(await closed, output.text).to.deep.equal([0, null]);
    expect(output.text).to.equal('');
    await expectReleased();
  });

  it('ends with status 1 and a line if it fails halfway', async () => {
    const { child, output } = start(INCOMPLETE);
    expect(await once(child, 'close'), output.text).to.deep.equal([1, null]);
    expect(output.text).to.equal('docs.css is missing\n');
    await expectReleased();
  });

  it('logs a line for a rejection that nobody handles, and for an exception, which ends it with status 1', async () => {
    const { child, output } = start(FAULTY);
    expect(await once(child, 'close')).to.deep.equal([1, null]);
    const lines = output.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ level, msg, err }) => [level, msg, err.message])).to.deep.equal([
      ['error', 'unhandled rejection', 'planted rejection'],
      ['fatal', 'uncaught exception', 'planted exception'],
    ]);
    await expectReleased();
  });

  it('serves although the disk takes only a part of the sample data, which the next start completes', async function () {
    if (process.platform !== 'linux') this.skip();
    const starts: { articles: number; faults: string[] }[] = [];
    for (const nodeOptions of [ON_A_FULL_DISK, '']) {
      const { child, output } = start(nodeOptions);
      const url = await eventually(() => {
        const [found] = /http:\S+(?=\/community)/.exec(output.text) ?? [];
        expect(found, output.text).not.to.equal(undefined);
        return found;
      });
      const answer = await fetch(`${url}/community/list/recent?size=50`);
      const { list } = (await answer.json()) as { list: unknown[] };
      child.kill('SIGTERM');
      await once(child, 'close');
      const logged = output.text.split('\n').filter((line) => line.startsWith('{'));
      starts.push({ articles: list.length, faults: logged.map((line) => JSON.parse(line).msg) });
    }
    const [first, second] = starts;
    expect(first?.faults).to.include('the sample data are incomplete: the next start continues with them');
    expect(second?.faults).to.deep.equal([]);
    expect(second?.articles).to.be.above(first?.articles ?? 0);
  });
});
