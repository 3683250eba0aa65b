import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Config } from '../../../domain/platform/settings/config.js';
import { noCluster } from '../../../scripts/cluster/absence.js';
import { claimDataDir } from '../../../scripts/start/claim-data-dir.js';

describe('npm run cluster where none runs', () => {
  it('names the process that serves the folder by npm start', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'adoption-absence-'));
    try {
      const claim = await claimDataDir({ DATA_DIR } as Config);
      expect(await noCluster({ DATA_DIR })).to.equal(
        `No cluster of ${DATA_DIR} runs; process ${process.pid} serves it by npm start.`,
      );
      claim.release();
      expect(await noCluster({ DATA_DIR })).to.equal(`No cluster of ${DATA_DIR} runs.`);
    } finally {
      rmSync(DATA_DIR, { recursive: true });
    }
  });
});
