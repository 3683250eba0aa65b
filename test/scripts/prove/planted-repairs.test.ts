import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { redisMissing } from '../../../scripts/load/programs.js';
import { plantedFaults } from '../../../scripts/mutate/planted/index.js';
import { type PlantedFault, textWith } from '../../../scripts/mutate/planted/planted-fault.js';
import { createSandbox } from '../../../scripts/mutate/sandbox.js';
import type { Verdict } from '../../../scripts/prove/check/judge.js';
import { runScript } from '../script-runs.js';

describe('what a service loses and mends in time', () => {
  it('is found without faults: a presence that is kept while another tab is at another gateway', async function () {
    if (redisMissing) this.skip();
    const sandbox = createSandbox(projectRoot(), `repairs-${process.pid}`);
    try {
      const fault = plantedFaults['presence-of-other-tab'] as PlantedFault;
      sandbox.change(join('dist', fault.file), textWith(fault, sandbox.build));
      const size = ['--members', '12', '--seconds', '10', '--http', '1', '--gateways', '2'];
      const args = [...size, '--faults', 'none', '--build', sandbox.build, '--json'];
      const { stdout, stderr } = await runScript('scripts/prove.js', args, {});
      const { broken, repairs } = JSON.parse(stdout) as Verdict;
      expect(broken, stderr).to.have.property('pushes-arrive');
      expect(repairs['presence that expired']).to.be.above(0);
    } finally {
      sandbox.remove();
    }
  });
});
