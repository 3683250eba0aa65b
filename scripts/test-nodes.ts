import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../domain/platform/project-root.js';
import { runCommand, UsageError } from './command/run-command.js';
import { compiledTests } from './test/compiled-tests.js';

const usage = `Usage: npm run test:nodes [-- VERSION ... PATH ...]

Builds, and runs tests with other versions of Node: VERSION (22, 24.21.0), without one each supported version that is
not this one; PATH: test files or folders (test/e2e/cluster), without one those that depend most on Node and on what
sockets run on. The programs come from the npm registry and are kept in the user's cache folder. Exit status 1 if a
test fails with one of them.`;

/** Supported versions. (package.json, engines) */
const SUPPORTED = ['20', '22', '24', '26'];

/**
 * What runs with each: sockets, what processes share, whole processes, and what the story tells over all of them. On versions
 * without a binary of uWebSockets.js these are the tests of the other engine.
 */
const TESTS = [
  'test/gateway',
  'test/ports/presence.test.ts',
  'test/ports/delivery-bus.test.ts',
  'test/e2e/story',
  'test/e2e/cluster/starts.test.ts',
  'test/e2e/cluster/two-of-each.test.ts',
  'test/e2e/deploy/nginx.test.ts',
  'test/hostile/frames.test.ts',
  'test/hostile/handshakes.test.ts',
  'test/hostile/unread-answers.test.ts',
  'test/scripts/embedded-mongo/process.test.ts',
];

/** Where programs are kept: outside of the project, for all its clones. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'adoption-realtime', 'nodes');

/** @returns the program of a version, which is fetched if it is not here yet. @throws Error with npm's reason */
async function nodeProgram(version: string): Promise<string> {
  // Each package has the program of one version, alone.
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(cache, version);
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const args = ['install', '--prefix', folder, ...options, `${name}@${version}`];
    await promisify(execFile)('npm', args).catch(({ message, stderr = '' }: Error & { stderr?: string }) => {
      const [, reason = message] = /^npm error (?!code)(?:notarget )?(.+)$/m.exec(stderr) ?? [];
      throw new Error(`VERSION: Node ${version} cannot be fetched: ${reason}`);
    });
  }
  return program;
}

/** Runs tests with one version. @returns whether they passed */
async function runTests(version: string, tests: string[]): Promise<boolean> {
  const program = await nodeProgram(version);
  const root = projectRoot();
  const { stdout } = await promisify(execFile)(program, ['--version']);
  process.stdout.write(`\nNode ${stdout}`);
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const child = spawn(program, [mocha, '--reporter', 'dot', ...tests], {
    cwd: root,
    // What tests start by name is this version, too.
    env: { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH ?? ''}` },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

await runCommand(usage, async (args) => {
  const paths = args.filter((arg) => arg === 'test' || arg.startsWith('test/'));
  const versions = args.filter((arg) => !paths.includes(arg));
  const odd = versions.find((version) => !/^\d+(\.\d+){0,2}$/.test(version));
  if (odd !== undefined) throw new UsageError(`${odd} is neither a version of Node nor a test`);
  const tests = (paths.length > 0 ? paths : TESTS).map((path) => compiledTests(projectRoot(), path));
  const own = process.versions.node.split('.')[0] as string;
  const others = SUPPORTED.filter((version) => version !== own);
  let passed = true;
  for (const version of versions.length > 0 ? versions : others)
    passed = (await runTests(version, tests)) && passed;
  return passed ? 0 : 1;
});
