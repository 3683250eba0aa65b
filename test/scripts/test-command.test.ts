import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
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
