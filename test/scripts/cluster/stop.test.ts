import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTargets, writeTargets } from '../../../domain/platform/observe/metrics/targets.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import type { Pm2 } from '../../../scripts/cluster/pm2.js';
import { stopAll } from '../../../scripts/cluster/stop.js';

describe('npm run cluster -- stop', () => {
  it('keeps the list of processes to scrape until they have ended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-stop-'));
    try {
      const config = loadConfig({ DATA_DIR: folder }, folder);
      const listed = [{ targets: ['127.0.0.1:8100'], labels: { process: 'gateway' } }];
      writeTargets(config, listed);
      const pm2 = { delete: async () => {}, end: async () => {} };
      const failing = { ...pm2, end: () => Promise.reject(new Error('pm2 hangs')) };
      const fault = await stopAll(failing as never as Pm2, config).catch((error: Error) => error.message);
      expect(fault).to.equal('pm2 hangs');
      expect(readTargets(config)).to.deep.equal(listed);
      await stopAll(pm2 as never as Pm2, config);
      expect(readTargets(config)?.flatMap(({ targets }) => targets)).to.deep.equal([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
