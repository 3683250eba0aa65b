import { resolve } from 'node:path';
import { expect } from 'chai';
import { type LoadOptions, optionSchema } from '../../../scripts/load/options.js';
import { ProcessGroup } from '../../../scripts/load/process-group.js';
import { runScenario } from '../../../scripts/load/run-scenario.js';
import type { Contender, Measured, Scenario } from '../../../scripts/load/scenario.js';

/** A line of each role, whose turns are void if `turnOf` says so. */
function scenarioOf(turnOf: (turn: number) => Measured): Scenario {
  const lineOf = (role: Contender['role']): Contender => {
    let turn = 0;
    const measure = async () => {
      turn += 1;
      return turnOf(turn);
    };
    return { name: role, role, measure };
  };
  return {
    ...{ name: 'chat', title: 'stubs', columns: ['cpu'], heeds: [] },
    contenders: () => (['ours', 'limit', 'peer'] as const).map(lineOf),
    verdicts: () => [],
  };
}

/** What makes a turn void. */
const BUSY = { others: 50 };

describe('a run of a scenario', () => {
  const run = (options: Partial<LoadOptions>, turnOf = (_: number): Measured => ({ cpu: 1 })) =>
    runScenario(scenarioOf(turnOf), { ...optionSchema.parse({}), ...options }, () => false);

  /** How many turns of each line there were, by its name. */
  const turnsWith = async (...args: Parameters<typeof run>) =>
    Object.fromEntries((await run(...args)).map(({ name, turns }) => [name, turns]));

  it('has three turns of each line', async () => {
    expect(await turnsWith({})).to.deep.equal({ ours: 3, limit: 3, peer: 3 });
    expect(await turnsWith({ only: 'peer', runs: 1 })).to.deep.equal({ peer: 1 });
  });

  it('has failed if no turn’s counts can be right', async () => {
    const missingOf = async (turnOf: (turn: number) => Measured) => (await run({}, turnOf))[0]?.missing;
    expect(await missingOf(() => ({ cpu: 1, delivered: 20, lost: -10 }))).to.equal(
      'failed: 10 more delivered than sent',
    );
    expect(await missingOf(() => ({ delivered: 0, lost: 0 }))).to.equal('failed: nothing was published');
    const once = (turn: number) => ({ cpu: 1, delivered: 20, lost: turn === 1 ? -10 : 0 });
    expect(await missingOf(once), 'in one of three turns').to.equal(undefined);
  });

  it('writes profiles where it was started, not into its temporary folder', async () => {
    const group = new ProcessGroup('profiles');
    expect(group.profile).to.equal(resolve('profiles'));
    await group.end();
  });

  for (const option of ['baseline', 'save-baseline'] as const) {
    it(`has five turns that count with --${option}, and no peers unless they are named`, async () => {
      const compared = { [option]: 'file' };
      expect(await turnsWith(compared)).to.deep.equal({ ours: 5, limit: 5 });
      expect(await turnsWith({ ...compared, only: 'peer' })).to.deep.equal({ peer: 5 });
      const twiceVoid = (turn: number): Measured => ({ cpu: 1, ...(turn < 3 && BUSY) });
      expect(await turnsWith(compared, twiceVoid), 'two void ones made again').to.deep.equal({
        ...{ ours: 7, limit: 7 },
      });
      expect(await turnsWith(compared, () => ({ cpu: 1, ...BUSY })), 'all void').to.deep.equal({
        ...{ ours: 10, limit: 10 },
      });
    });

    it(`tells of turns that are made again with --${option} that time is left`, async () => {
      const told: string[] = [];
      const { write } = process.stderr;
      process.stderr.write = (text: string | Uint8Array) => told.push(String(text)) > 0;
      try {
        await run({ [option]: 'file', only: 'ours' }, () => ({ cpu: 1, ...BUSY }));
      } finally {
        process.stderr.write = write;
      }
      const again = told.filter((text) => text.startsWith('chat: again: '));
      expect(again).to.have.length(5);
      for (const text of again) expect(text).to.match(/ \(about [1-9]\d* s left\)\n$/);
    });

    it(`times the reference work before each turn with --${option}`, async () => {
      const [ours] = await run({ [option]: 'file' });
      expect(ours?.figures.reference?.runs).to.have.length(5);
      expect(ours?.figures.reference?.min).to.be.greaterThan(0);
      const [plain] = await run({});
      expect(plain?.figures.reference, 'where builds are not compared').to.equal(undefined);
    });
  }
});
