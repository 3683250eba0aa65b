import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';

describe('npm run build', () => {
  it('needs no package of development, neither types nor what tests import', () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-build-'));
    try {
      for (const file of ['tsconfig.json', 'tsconfig.dist.json'])
        copyFileSync(join(projectRoot(), file), join(folder, file));
      mkdirSync(join(folder, 'test'));
      writeFileSync(
        join(folder, 'test', 'some.test.ts'),
        "import { expect } from 'chai';\nit('', () => expect(process.pid));\n",
      );
      const compiler = join(projectRoot(), 'node_modules', '.bin', 'tsc');
      execFileSync(compiler, ['-p', 'tsconfig.dist.json'], { cwd: folder });
      expect(existsSync(join(folder, 'dist', 'test', 'some.test.js'))).to.equal(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
