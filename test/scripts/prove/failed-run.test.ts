import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hasRedisServer } from '../../support/redis.js';
import { spawnScript } from '../script-runs.js';
import { preload } from './interrupt.js';

const SIZE = ['--members', '4', '--seconds', '1', '--http', '1', '--gateways', '1'];

/** Time, ms, after which a run that should fail counts as one that does not end. */
const ENDLESS_MS = 90_000;

/** Loses the command's requests for a room. */
const NO_ROOMS = preload(`
  const real = fetch;
  globalThis.fetch = async (url, init) => {
    if (init?.method === 'POST' && url.endsWith('/chatroom')) throw new Error('lost');
    return real(url, init);
  };`);

describe('a run of npm run prove that fails', () => {
  let folder: string;
  beforeEach(function () {
    if (!hasRedisServer) this.skip();
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
  });
  afterEach(() => folder && rmSync(folder, { recursive: true, force: true }));

  /** Resolves with the exit status, null if it did not end by itself, and stderr. */
  async function fail(args: string[], settings: Record<string, string>) {
    const child = spawnScript('scripts/prove.js', [...SIZE, ...args], { TMPDIR: folder, ...settings });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const endless = setTimeout(() => child.kill('SIGKILL'), ENDLESS_MS);
    const [status] = await once(child, 'close');
    clearTimeout(endless);
    return { status, stderr };
  }

  it('ends, and leaves nothing behind, where its rooms cannot be opened', async () => {
    const { status, stderr } = await fail(['--faults', 'none'], { NODE_OPTIONS: NO_ROOMS });
    expect(stderr).to.equal('the installation is stopped, and its folder removed\nPOST /chatroom: lost\n');
    expect(status).to.equal(1);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('ends and keeps its history where a fault cannot be ended', async () => {
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'prlimit'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(programs, 'prlimit'), 0o755);
    const PATH = `${programs}:${process.env.PATH}`;
    const { status, stderr } = await fail(['--faults', 'disk-full'], { PATH });
    expect(status, stderr).to.equal(1);
    expect(stderr).to.include('Command failed: prlimit');
    const [, kept = ''] = /^the history is kept: (.+)$/m.exec(stderr) ?? [];
    expect(readFileSync(kept, 'utf8')).to.match(/^\{"t":[\d.]+,"e":"header",[\s\S]*"fault":"disk-full"/);
  });
});
