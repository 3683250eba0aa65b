import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { commitOf } from '../../../../../domain/platform/observe/metrics/identity.js';

describe('the commit in adoption_build_info', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-identity-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  it('is that of the branch, whatever its name, packed or not', () => {
    write('.git/HEAD', 'ref: refs/heads/a(b\n');
    expect(commitOf(root)).to.equal(undefined);
    write('.git/packed-refs', '# pack-refs with: peeled\n11aa refs/heads/aXb\n22bb refs/heads/a(b\n');
    expect(commitOf(root)).to.equal('22bb');
    write('.git/refs/heads/a(b', '33cc\n');
    expect(commitOf(root)).to.equal('33cc');
  });

  it('is that of a checkout without a branch, and of a linked working folder', () => {
    write('.git', `gitdir: ${join(root, 'first', '.git', 'worktrees', 'second')}\n`);
    write('first/.git/worktrees/second/HEAD', 'ref: refs/heads/second\n');
    write('first/.git/worktrees/second/commondir', '../..\n');
    write('first/.git/refs/heads/second', '44dd\n');
    expect(commitOf(root)).to.equal('44dd');
    write('first/.git/worktrees/second/HEAD', '55ee\n');
    expect(commitOf(root)).to.equal('55ee');
  });

  it('is unknown without a Git folder', () => {
    expect(commitOf(root)).to.equal(undefined);
  });
});
