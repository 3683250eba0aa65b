import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { runTests } from '../../../scripts/mutate/run-tests.js';
import { eventually } from '../../support/eventually.js';

describe('a run of tests for a mutant', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-run-tests-'));
    mkdirSync(join(root, 'dist', 'test', 'support'), { recursive: true });
    symlinkSync(join(projectRoot(), 'node_modules'), join(root, 'node_modules'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'dist', 'test', 'support', 'setup.js'), '');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('measures the CPU time of tests, and leaves no process behind that they started', async () => {
    const text = `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
it('starts a service that leaves the process group', () => {
  const program = 'setInterval(() => {}, 1000)';
  const child = spawn(process.execPath, ['-e', program], { detached: true, stdio: 'ignore' });
  child.unref();
  writeFileSync('pid', String(child.pid));
  for (const end = process.cpuUsage().user + 200_000; process.cpuUsage().user < end; );
  if (process.env.FAILS) throw new Error('failed');
});
`;
    writeFileSync(join(root, 'dist', 'test', 'service.test.js'), text);
    for (const env of [{}, { FAILS: '1' }]) {
      const { passed, output, cpuMs } = await runTests(root, ['dist/test/service.test.js'], 60, env);
      expect(passed, output).to.equal(!('FAILS' in env));
      expect(cpuMs).to.be.within(200, 30_000);
      const pid = Number(readFileSync(join(root, 'pid'), 'utf8'));
      if (process.platform === 'linux')
        await eventually(() => expect(() => process.kill(pid, 0)).to.throw('ESRCH'));
    }
  });

  it('ends tests that compute for ever', async () => {
    writeFileSync(join(root, 'dist', 'test', 'endless.test.js'), "it('never ends', () => { for (;;); });\n");
    expect(await runTests(root, ['dist/test/endless.test.js'], 1)).to.include({ passed: false });
  });
});
