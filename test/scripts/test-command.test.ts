import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { changedTests } from '../../scripts/test/changed-tests.js';
import { compiled } from '../support/child-process.js';
import { runHere } from './script-runs.js';

/** Runs the command behind `npm test`, as a user's shell would. */
function npmTest(...args: string[]) {
  const command = fileURLToPath(compiled('scripts/test.js'));
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
}

describe('npm test', () => {
  it('runs only the named file', () => {
    const { status, stdout } = npmTest('test/domain/kernel/origins.test.ts');
    expect(status).to.equal(0);
    expect(stdout).to.match(/\b3 passing/);
  });

  it('knows the tests of a package', () => {
    const { status, stdout } = npmTest('packages/embedded-mongo/test/values/errors.test.ts');
    expect(status).to.equal(0);
    expect(stdout).to.match(/\b\d+ passing/);
  });

  it('names a path that is not a test', () => {
    const { status, stderr } = npmTest('test/nowhere.test.ts');
    expect(status).to.equal(2);
    expect(stderr).to.include('PATH: test/nowhere.test.ts is not a test or a folder of tests');
  });
});

describe('npm run test:nodes', () => {
  it('names what is neither a version nor a test', async () => {
    const [version, path] = [await run('24x'), await run('24', 'test/nowhere.test.ts')];
    expect(version.stderr).to.match(
      /^24x is neither a version of Node nor a test\n\nUsage: npm run test:nodes/,
    );
    expect(path.stderr).to.match(/^PATH: test\/nowhere.test.ts is not a test or a folder of tests\n/);
    expect([version.status, path.status]).to.deep.equal([2, 2]);
  });

  const run = (...args: string[]) => runHere('scripts/test-nodes.js', args, {});
});

describe('the tests of packages in CI', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-packages-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const script = join(projectRoot(), '.ci/packages-changed');
  const areDue = (more: Record<string, string> = {}) =>
    spawnSync(script, { cwd: root, env: { PATH: process.env.PATH, ...more } }).status === 0;

  /** Commits a change of a file, so many hours after the first commit. */
  function commit(path: string, hours: number): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), String(hours));
    const date = `${Date.UTC(2026, 0, 1, hours) / 1_000} +0000`;
    const env = { PATH: process.env.PATH, GIT_COMMITTER_DATE: date };
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
    for (const args of [
      ['add', '.'],
      ['commit', '-qm', 'change'],
    ])
      execFileSync('git', [...identity, ...args], { cwd: root, env });
  }

  it('run without a history, for a day after a change, and on request', () => {
    expect(areDue()).to.equal(true);
    execFileSync('git', ['init', '-q'], { cwd: root });
    commit('domain/one.ts', 0);
    expect(areDue()).to.equal(true);
    commit('domain/one.ts', 25);
    expect(areDue()).to.equal(false);
    expect(areDue({ TEST_ALL: 'on' })).to.equal(true);
    commit('packages/one/src/open.ts', 26);
    commit('domain/one.ts', 49);
    expect(areDue()).to.equal(true);
    commit('domain/one.ts', 51);
    expect(areDue()).to.equal(false);
    commit('package-lock.json', 52);
    expect(areDue()).to.equal(true);
  });
});

describe('the tests affected by a change', () => {
  let root: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: root });

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-changed-'));
    write('http/chat/chat.routes.ts', '1');
    write('domain/chat/rooms/create.ts', '1');
    write('domain/kernel/ids.ts', '1');
    write('test/http/chat/chat.test.ts', '1');
    write('test/domain/chat/rooms.test.ts', "import { newId } from '../../../domain/kernel/ids.js';");
    write('test/e2e/cluster/order.test.ts', "import { newId } from '../../../domain/kernel/ids.js';");
    write('test/architecture/rules.test.ts', '1');
    write('packages/one/src/query/filter.ts', '1');
    write('packages/one/test/query/filters.test.ts', '1');
    write('packages/one/test/wire.test.ts', '1');
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'first');
  });
  afterEach(() => git('checkout', '-q', '.'));
  after(() => rmSync(root, { recursive: true, force: true }));

  it('are none without a change', () => {
    expect(changedTests(root, 'HEAD')).to.deep.equal([]);
  });

  it('are those in the folder that mirrors it, and the architecture’s rules', () => {
    write('http/chat/chat.routes.ts', '2');
    expect(changedTests(root, 'HEAD')).to.have.members([
      'test/http/chat/chat.test.ts',
      'test/architecture/rules.test.ts',
    ]);
    write('domain/chat/rooms/create.ts', '2');
    expect(changedTests(root, 'HEAD')).to.include('test/domain/chat/rooms.test.ts');
    write('packages/one/src/query/filter.ts', '2');
    expect(changedTests(root, 'HEAD'))
      .to.include('packages/one/test/query/filters.test.ts')
      .and.not.include('packages/one/test/wire.test.ts');
  });

  it('are those that import a changed file; slow ones only if they have changed themselves', () => {
    write('domain/kernel/ids.ts', '2');
    expect(changedTests(root, 'HEAD'))
      .to.include('test/domain/chat/rooms.test.ts')
      .and.not.include('test/e2e/cluster/order.test.ts');
    write('test/e2e/cluster/order.test.ts', '2');
    expect(changedTests(root, 'HEAD')).to.include('test/e2e/cluster/order.test.ts');
  });
});
