import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { judgeEdits } from '../../../scripts/prove/edits/judge-edits.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { createRandom } from '../../support/random.js';
import { runHere } from '../script-runs.js';
import { modelHistory } from './model-history.js';

const PROVE = 'scripts/prove.js';

/** Edits that are tried, and the most that may be missed: of a model that keeps few connections until the end. */
const EDITS = 200;
const MISSED = 40;

describe('edits of a history', () => {
  const random = createRandom('PROVE_SEED');

  it('are found, most of them, and change one line each', () => {
    const seed = random.below(2 ** 31);
    const lines = modelHistory(seed, 300);
    const before = JSON.stringify(lines);
    const edits = [...judgeEdits(lines, EDITS, (limit) => random.below(limit))];
    expect(JSON.stringify(lines)).to.equal(before);
    const missed = edits.filter(({ found }) => found.length === 0);
    expect(missed.length, `seed ${seed}\n${missed.map(({ what }) => what).join('\n')}`).to.be.below(MISSED);
    for (const { line, what } of edits) expect(line, what).to.be.within(2, lines.length);
  });

  describe('by npm run prove -- --check FILE --edits N', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'adoption-test-edits-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    function write(lines: HistoryLine[]): string {
      const file = join(folder, 'history.ndjson');
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      return file;
    }

    it('prints the share that was found, the same for a seed', async () => {
      const args = ['--check', write(modelHistory(7, 200)), '--edits', '20', '--seed', '3'];
      const first = await runHere(PROVE, args, {});
      expect(first.stdout, first.stderr).to.match(/^(?:line \d+: .*\n)*\d+ of 20 edits found, seed 3\n$/);
      expect((await runHere(PROVE, args, {})).stdout).to.equal(first.stdout);
    });

    it('gives the verdict of a history in which a promise is broken', async () => {
      const lines = modelHistory(7, 200);
      for (const line of lines)
        if (line.e === 'ok' && line.f === 'rooms') for (const state of line.rooms) state.unread += 1_000;
      const run = await runHere(PROVE, ['--check', write(lines), '--edits', '20'], {});
      expect(run.status).to.equal(1);
      expect(run.stdout).to.match(/^broken: /);
    });

    it('needs a kept history', async () => {
      const run = await runHere(PROVE, ['--edits', '20'], {});
      expect(run).to.include({ status: 2 });
      expect(run.stderr).to.match(/^--edits: changes a kept history: needs --check FILE$/m);
    });
  });
});
