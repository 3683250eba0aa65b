import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { othersBetween, sampleMachine } from '../../../scripts/load/machine-load.js';
import { resultOf } from '../../../scripts/load/run-scenario.js';
import { voidReason } from '../../../scripts/load/void-turn.js';

describe('a turn is void', () => {
  const good = { delivered: 10, lost: 0, clients: 50, late: 2, p99: 5, others: 3, steal: 0 };
  const cases: [figures: object, reason: RegExp | undefined][] = [
    [{}, undefined],
    [{ clients: 95 }, /^clients were the bottleneck \(95 %/],
    [{ late: 3 }, /^clients sent late \(p99 3\.0 ms, of a latency of 5\.0 ms/],
    [{ late: 1.5, p99: 2 }, undefined],
    [{ lost: -4 }, /^4 more delivered than sent/],
    [{ delivered: 0 }, /^nothing was published/],
    [{ delivered: 0, lost: 10 }, undefined],
    [{ delivered: 0, refused: 10 }, undefined],
    [{ others: 30 }, /^the machine was busy with other programs \(30 %/],
    [{ steal: 8 }, /^the hypervisor took CPU \(8 %/],
  ];
  for (const [figures, reason] of cases)
    it(`${reason ? '' : 'not '}with ${JSON.stringify(figures)}`, () => {
      const found = voidReason({ ...good, ...figures });
      if (reason) expect(found).to.match(reason);
      else expect(found).to.equal(undefined);
    });
});

describe('figures of void turns', () => {
  const line = { name: 'this service', role: 'ours' } as const;
  const turns = [
    { delivered: 1, cpu: 1, memory: 10 },
    { delivered: 1, cpu: 9, memory: 30, others: 50 },
  ];

  it('do not count, but those of memory do', () => {
    const { figures, voided, ...result } = resultOf(line, turns, undefined);
    expect(figures.cpu?.runs).to.deep.equal([1]);
    expect(figures.memory?.runs).to.deep.equal([10, 30]);
    expect(voided).to.have.length(1);
    expect(result).to.not.have.property('void');
  });

  it('are shown if no turn counts', () => {
    const { figures, void: reason } = resultOf(line, turns.slice(1), undefined);
    expect(figures.cpu?.runs).to.deep.equal([9]);
    expect(reason).to.match(/^the machine was busy/);
  });
});

describe('the load of the machine', () => {
  it('by others is what is not ours', () => {
    const before = { total: 1_000, busy: 500, steal: 10, own: 100 };
    const after = { total: 1_200, busy: 600, steal: 20, own: 140 };
    expect(othersBetween(before, after)).to.deep.equal({ busy: 50, others: 30, steal: 5 });
  });

  it('counts processes that have ended as ours', async () => {
    const before = sampleMachine();
    const burn = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 200_000);';
    await once(spawn(process.execPath, ['-e', burn]), 'exit');
    const after = sampleMachine();
    expect(after.own - before.own, 'ticks of 10 ms').to.be.at.least(15);
    expect(after.busy - before.busy).to.be.at.least(15);
  });
});
