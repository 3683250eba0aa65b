import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectRoot } from '../domain/platform/process/project-root.js';
import { runCommand, UsageError } from './command/run-command.js';
import { changedTests } from './test/changed-tests.js';
import { compiledTests, isOfTests } from './test/compiled-tests.js';

const usage = `Usage: npm test [-- PATH ...] [mocha's options]
       npm run test:changed [-- --base REV]

Builds and runs the tests, several files at a time. PATH: test files or folders (test/http,
test/gateway/chat.test.ts, packages/embedded-mongo/test); without one, all but those of packages, which
npm run test:all adds. With CI=true a test that did not run fails the run.

test:changed runs the tests affected by a change: changed tests, tests that import a changed file, and the
tests in the folder that mirrors it. Slow tests, of several processes, run only if they have changed themselves.

  --base REV   compare with this commit (default HEAD)

With --reporter dist/test/documents/reliability.js, one of mocha's options, npm test also writes the results of
the tests of faults to docs/reliability.md.`;

await runCommand(usage, async (args) => {
  const root = projectRoot();
  const isChanged = args[0] === '--changed';
  let mochaArgs: string[];
  if (isChanged) {
    const [, flag, base = 'HEAD'] = args;
    if (flag !== undefined && flag !== '--base') throw new UsageError(`unknown option '${flag}'`);
    const tests = changedTests(root, base);
    if (tests.length === 0) {
      process.stdout.write(`no test is affected by the changes since ${base}\n`);
      return 0;
    }
    mochaArgs = tests.map((test) => compiledTests(root, test));
  } else {
    // Other arguments are mocha's options and their values.
    mochaArgs = args.map((arg) => (isOfTests(arg) ? compiledTests(root, arg) : arg));
  }
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const child = spawn(process.execPath, [mocha, ...mochaArgs], { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
});
