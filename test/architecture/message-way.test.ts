import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/project-root.js';

const MOST_FILES = 12;
const MOST_RETURNS = 2;

const textOf = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');

const section = textOf('ARCHITECTURE.md')
  .split('\n## ')
  .find((text) => text.startsWith('The way of a sent message'));
/** The steps of the way, in order; a file comes again where control returns to it. */
const steps = [...(section ?? '').matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path as string);
const files = [...new Set(steps)];
/** What the way calls in the kernel and the platform. */
const called = [...(section ?? '').matchAll(/`(domain\/(?:kernel|platform)\/[^`]+)`/g)].map(
  ([, path]) => path as string,
);

/** The files that a file imports, types included; what an index.ts exports counts as imported itself. */
function importsOf(path: string): string[] {
  return [...textOf(path).matchAll(/from '(\.[^']+)\.js'/g)].flatMap(([, specifier]) => {
    const imported = `${posix.join(posix.dirname(path), specifier as string)}.ts`;
    return imported.endsWith('/index.ts') ? [imported, ...importsOf(imported)] : [imported];
  });
}

/** Whether one file reaches another by its imports, over one file that names its type or port. */
function reaches(from: string, to: string): boolean {
  const imported = importsOf(from);
  const known = new Set(importsOf(to));
  return (
    imported.includes(to) ||
    known.has(from) ||
    imported.some((path) => known.has(path) || importsOf(path).includes(to))
  );
}

describe('the way of a sent message, as ARCHITECTURE.md lists it,', () => {
  it(`has at most ${MOST_FILES} files, and returns to one at most ${MOST_RETURNS} times`, () => {
    expect(steps).not.to.have.length(0);
    expect(files).to.have.length.at.most(MOST_FILES);
    expect(steps.length - files.length).to.be.at.most(MOST_RETURNS);
  });

  it('goes from each file to one that a file before it imports', () => {
    for (const [i, path] of files.entries()) {
      if (i > 0)
        expect(
          files.slice(0, i).some((before) => reaches(before, path)),
          path,
        ).to.equal(true);
    }
  });

  it('names every file whose functions are called, and no other', async () => {
    const script = join(projectRoot(), 'dist', 'test', 'architecture', 'run-message-way.js');
    // Coverage of the whole run, if it is measured, is not that of this process.
    const env = { ...process.env, NODE_V8_COVERAGE: undefined };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
    expect(JSON.parse(stdout)).to.have.members([...files, ...called]);
  });
});
