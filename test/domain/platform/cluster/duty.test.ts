import { mock } from 'node:test';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { Duty } from '../../../../domain/platform/cluster/duty.js';
import { leaveDuty, takeDuty } from '../../../../domain/platform/cluster/duty.model.js';
import { startBeating, uniqueProcessName } from '../../../../domain/platform/cluster/heartbeat.model.js';
import { createLogger, type Logger } from '../../../../domain/platform/observe/logger.js';
import type { Reports } from '../../../../domain/platform/redis/reports.js';
import { interceptCalls } from '../../../support/database-calls.js';
import { eventually, nextTurn } from '../../../support/eventually.js';
import { service } from '../../../support/service.js';

const silent = createLogger('silent', 'test');

describe('the duty of one process', () => {
  const ends: (() => Promise<unknown>)[] = [];
  before(service);
  beforeEach(() => mongoose.connection.collection('duties').deleteMany({ _id: 'duty' as never }));
  afterEach(async () => {
    mock.timers.reset();
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** The name of a process that beats. */
  async function beating(): Promise<string> {
    const name = uniqueProcessName();
    ends.push(await startBeating(name, silent));
    return name;
  }

  it('is taken by the first, and by another when it is left or its holder is dead', async () => {
    const [one, two] = [await beating(), await beating()];
    expect(await Promise.all([takeDuty(one), takeDuty(one)])).to.include(true);
    expect([await takeDuty(one), await takeDuty(two)]).to.deep.equal([true, false]);
    await leaveDuty(two);
    expect(await takeDuty(two), 'it was not theirs to leave').to.equal(false);
    await leaveDuty(one);
    expect([await takeDuty(two), await takeDuty(one)]).to.deep.equal([true, false]);
    await mongoose.connection.collection('heartbeats').deleteOne({ _id: two as never });
    expect([await takeDuty(one), await takeDuty(two)]).to.deep.equal([true, false]);
  });

  it('is taken by one of many that try at once', async () => {
    const names = await Promise.all(Array.from({ length: 5 }, beating));
    const taken = await Promise.all(names.map(takeDuty));
    expect(taken.filter(Boolean)).to.have.length(1);
  });

  /** A process that looks, while the test lets time pass. */
  async function look(name: string, { logger = silent, hasRoll = false } = {}) {
    const state = { isOnDuty: false, hasRoll, rolls: [] as string[][], ended: 0, down: false };
    const reports = {
      get isOnDuty() {
        return state.isOnDuty;
      },
      get hasRoll() {
        return state.hasRoll;
      },
      callRoll(names: string[]) {
        state.isOnDuty = true;
        state.rolls.push(names);
      },
      endDuty() {
        state.isOnDuty = false;
        state.ended += 1;
      },
    } as unknown as Reports;
    const redis = {
      get down() {
        return state.down;
      },
    };
    const duty = new Duty({ name, reports, redis, logger });
    duty.start();
    return { state, duty };
  }

  /** Passes time until the check succeeds. */
  const passUntil = (check: () => void) =>
    eventually(() => {
      mock.timers.tick(2_000);
      check();
    });

  it('is to call the roll; left when Redis is down, and by a process that stops', async () => {
    const [one, two] = [await beating(), await beating()];
    mock.timers.enable({ apis: ['setInterval'] });
    const first = await look(one);
    await passUntil(() => expect(first.state.rolls[0]).to.include.members([one, two]));
    const second = await look(two);
    await passUntil(() => expect(first.state.rolls.length).to.be.greaterThan(2));
    expect(second.state.rolls, 'another has it').to.deep.equal([]);
    first.state.down = true;
    await passUntil(() => expect(second.state.rolls).to.not.deep.equal([]));
    expect([first.state.isOnDuty, first.state.ended]).to.deep.equal([false, 1]);
    await second.duty.close();
    await first.duty.close();
    expect(second.state.isOnDuty).to.equal(false);
    expect(await takeDuty(one)).to.equal(true);
  });

  it('is not looked for while another process calls the roll', async () => {
    const name = await beating();
    let asked = 0;
    const restore = interceptCalls([mongoose.model('Duty')], (_model, _call, run) => {
      asked += 1;
      return run();
    });
    mock.timers.enable({ apis: ['setInterval'] });
    const { state, duty } = await look(name, { hasRoll: true });
    try {
      mock.timers.tick(60_000);
      await nextTurn();
      expect(asked).to.equal(0);
      state.hasRoll = false;
      await passUntil(() => expect(state.isOnDuty).to.equal(true));
      expect(asked).to.be.greaterThan(0);
    } finally {
      restore();
      await duty.close();
    }
  });

  it('is looked for again after a failure, which is logged once', async () => {
    const name = await beating();
    const lines: string[] = [];
    const logger = { warn: (_fields: object, text: string) => lines.push(text) } as unknown as Logger;
    let failures = 0;
    const restore = interceptCalls([mongoose.model('Duty')], async (_model, _call, run) => {
      if (failures === 3) return run();
      failures += 1;
      throw new Error('the database is away');
    });
    mock.timers.enable({ apis: ['setInterval'] });
    const { state, duty } = await look(name, { logger });
    try {
      await passUntil(() => expect(state.isOnDuty).to.equal(true));
      expect([failures, lines]).to.deep.equal([3, ['the process on duty could not be determined; retrying']]);
    } finally {
      restore();
      await duty.close();
    }
    await eventually(async () => expect(await takeDuty(name)).to.equal(true));
  });
});
