import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/project-root.js';
import { classicCeiling, codeLimits, computeSizing } from '../../../scripts/scaling/compute.js';
import { defaultInputs, readInputs } from '../../../scripts/scaling/inputs.js';
import { formatReport } from '../../../scripts/scaling/report.js';

const source = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');

describe('npm run scaling', () => {
  const inputs = readInputs();

  it('says what docs/scaling.md says', () => {
    const sizings = [10_000, 1_000_000, 100_000_000].map((members) => computeSizing(members, inputs));
    const doc = source('docs/scaling.md');
    const [, inDoc] = /<!-- npm run scaling -->\n([\s\S]*?)\n<!-- end -->/.exec(doc) ?? [];
    expect(inDoc).to.equal(formatReport(inputs, sizings).trim());
  });

  it('knows the limits the code has', () => {
    const constant = (path: string, name: string) => {
      const [, digits] = new RegExp(`const ${name} = ([\\d_]+);`).exec(source(path)) ?? [];
      return Number(digits?.replaceAll('_', ''));
    };
    expect(codeLimits).to.deep.equal({
      compareEveryMs: constant('gateway/follow-rooms.ts', 'COMPARE_EVERY_MS'),
    });
  });

  it('never wants less for more members, nor fewer than two of a kind', () => {
    let before = computeSizing(1, inputs);
    expect([before.gateways, before.httpProcesses, before.machines]).to.deep.equal([2, 2, 2]);
    for (let members = 10; members <= 1e9; members *= 10) {
      const now = computeSizing(members, inputs);
      for (const name of ['gateways', 'httpProcesses', 'machines', 'memoryGiB', 'mongoShards'] as const)
        expect(now[name], `${name} of ${members}`).to.be.at.least(before[name]);
      before = now;
    }
  });

  it('chooses sharded pub/sub past what the classic one carries', () => {
    const dear = { ...inputs, foreignUs: { ...inputs.foreignUs, value: 1_000 } };
    expect(computeSizing(100_000, inputs).adapter).to.equal('classic');
    expect(computeSizing(100_000, dear).adapter).to.equal('sharded');
    expect(classicCeiling(dear)).to.equal(200);
  });

  it('takes measured figures over its own, and refuses what it does not know', () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-scaling-'));
    const file = join(folder, 'measured.json');
    const given = (figures: unknown) => {
      writeFileSync(file, JSON.stringify(figures));
      return readInputs(file);
    };
    try {
      const { messageUs, readUs } = given({ messageUs: 61, readUs: { value: 380, source: 'staging' } });
      expect(messageUs).to.include({ value: 61, kind: 'measured', source: file });
      expect(readUs).to.include({ value: 380, source: 'staging', unit: defaultInputs.readUs.unit });
      expect(() => given({ messagesUs: 61 })).to.throw('there is no figure messagesUs');
      expect(() => given({ messageUs: -1 })).to.throw('positive numbers');
      expect(() => readInputs(join(folder, 'absent.json'))).to.throw('absent.json');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
