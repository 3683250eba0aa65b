import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../domain/platform/process/project-root.js';
import { runCommand, UsageError } from './command/run-command.js';
import { compiledTests, isOfTests } from './test/compiled-tests.js';

/** Supported versions. (package.json, engines) */
const SUPPORTED = ['20', '22', '24', '26'];

/** What runs with each: sockets, the contracts of the ports, the start and end of processes, and the story over all. */
const TESTS = [
  'test/gateway',
  'test/ports/presence.test.ts',
  'test/ports/delivery-bus.test.ts',
  'test/ports/rate-limits.test.ts',
  'test/ports/recent-clients.test.ts',
  'test/e2e/story',
  'test/e2e/cluster/starts.test.ts',
  'test/scripts/start.test.ts',
  'packages/embedded-mongo/test/process.test.ts',
];

/** A version for which there is no binary of uWebSockets.js: that of the images. (deploy/Dockerfile) */
const WITHOUT_BINARY = '24';

/** What depends on the engine that sockets run on rather than on Node: runs with that version alone. */
const TESTS_OF_ENGINE = [
  'test/e2e/cluster/classic-adapter.test.ts',
  'test/e2e/deploy/nginx.test.ts',
  'test/hostile/frames.test.ts',
  'test/hostile/handshakes.test.ts',
  'test/hostile/unread-answers.test.ts',
];

/** Test files that run at a time, over all versions: as many as with `npm test` (.mocharc.cjs). */
const JOBS = 5;

const usage = `Usage: npm run test:nodes [-- VERSION ... PATH ...]

Builds, and runs tests with other versions of Node, all at the same time: VERSION (22, 24.21.0), without one each supported
version that is not this one; PATH: test files or folders (test/e2e/cluster), without one those that depend on Node, and
with Node ${WITHOUT_BINARY} those that depend on what sockets run on. The programs come from the npm registry and are kept in the
user's cache folder. Exit status 1 if a test fails with one of them.`;

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

/**
 * Runs tests with one version.
 * @param atOnce versions that run beside each other: the output of each is printed when it has ended
 * @returns whether they passed
 */
async function runTests(version: string, tests: string[], atOnce: number): Promise<boolean> {
  const program = await nodeProgram(version);
  const root = projectRoot();
  const { stdout } = await promisify(execFile)(program, ['--version']);
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  // With one job mocha would run all files in one process.
  const jobs = Math.max(2, Math.floor(JOBS / atOnce));
  const isAlone = atOnce === 1;
  if (isAlone) process.stdout.write(`\nNode ${stdout}`);
  const child = spawn(program, [mocha, '--reporter', 'dot', '--jobs', String(jobs), ...tests], {
    cwd: root,
    // What tests start by name is this version, too.
    env: { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH ?? ''}` },
    stdio: isAlone ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (!isAlone) process.stdout.write(`\nNode ${stdout}${Buffer.concat(printed)}`);
  return code === 0;
}

await runCommand(usage, async (args) => {
  const paths = args.filter(isOfTests);
  const named = args.filter((arg) => !paths.includes(arg));
  const odd = named.find((version) => !/^\d+(\.\d+){0,2}$/.test(version));
  if (odd !== undefined) throw new UsageError(`${odd} is neither a version of Node nor a test`);
  const own = process.versions.node.split('.')[0] as string;
  const versions = named.length > 0 ? named : SUPPORTED.filter((version) => version !== own);
  const passed = await Promise.all(
    versions.map((version) => {
      const isOfEngine = version.split('.')[0] === WITHOUT_BINARY;
      // The longest come first, or they would run alone at the end.
      const chosen = paths.length > 0 ? paths : [...(isOfEngine ? TESTS_OF_ENGINE : []), ...TESTS];
      const tests = chosen.map((path) => compiledTests(projectRoot(), path));
      return runTests(version, tests, versions.length);
    }),
  );
  return passed.every(Boolean) ? 0 : 1;
});
