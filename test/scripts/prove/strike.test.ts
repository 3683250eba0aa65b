import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runFaults } from '../../../scripts/prove/faults/run-faults.js';
import { type Struck, strikes } from '../../../scripts/prove/faults/strike.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';
import type { OwnInstallation } from '../../../scripts/prove/own-installation.js';
import { sleep } from '../../support/eventually.js';

/** Messages that have to be acknowledged meanwhile. */
const ACKNOWLEDGED = 20;

/** Longer than the faults of this test last by themselves, ms. */
const PACE_MS = 5;

describe('a fault of Redis in a run of npm run prove', () => {
  let folder: string;
  let history: HistoryFile;
  /** What was done to Redis and to the ways to it. */
  let done: string[];
  let struck: Struck;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-strike-'));
    history = new HistoryFile(join(folder, 'history.ndjson'));
    done = [];
    const note = (what: string) => async () => void done.push(what);
    const services = ['http-0', 'gateway-0'].map((name) => ({
      name,
      door: name.split('-')[0],
      redis: { tell: async (what: string) => void done.push(`${name} ${what}`) },
    }));
    const redis = { kill: note('kill'), start: note('start'), signal: (signal: string) => done.push(signal) };
    const own = { services, redis } as unknown as OwnInstallation;
    // Redis is frozen, and connections of one process are cut.
    const below = (limit: number) => limit - 1;
    struck = { history, own, devices: [], below, isFirst: true, isCalm: false, longestMs: 3, freezeMs: 3 };
  });
  afterEach(async () => {
    await history.close();
    rmSync(folder, { recursive: true });
  });

  /** Acknowledges a message every few ms until the strike is over. @returns how many */
  async function acknowledgeUntil(strike: Promise<void>): Promise<number> {
    const asker = { client: 'one', member: 1, process: 'http-0', door: 'rest' } as const;
    let isOver = false;
    const over = strike.then(() => {
      isOver = true;
    });
    let messages = 0;
    for (; !isOver; messages += 1) {
      const content = `message ${messages}`;
      history.begin(asker, 'send', { room: 1, key: content, content }).ok({ id: content });
      await sleep(PACE_MS);
    }
    await over;
    return messages;
  }

  it('kills Redis the first time, until messages were acknowledged meanwhile', async () => {
    expect(await acknowledgeUntil(strikes['redis-stop'](struck))).to.be.at.least(ACKNOWLEDGED);
    expect(done).to.deep.equal(['kill', 'start']);
  });

  it('leaves it to chance afterwards whether Redis is only frozen, and does not wait for messages then', async () => {
    struck.isFirst = false;
    await strikes['redis-stop'](struck);
    expect(done).to.deep.equal(['SIGSTOP', 'SIGCONT']);
  });

  it('refuses connections until messages were acknowledged meanwhile', async () => {
    struck.below = () => 0;
    expect(await acknowledgeUntil(strikes['redis-cut'](struck))).to.be.at.least(ACKNOWLEDGED);
    expect(done).to.deep.equal(['http-0 refuse', 'gateway-0 refuse', 'http-0 restore', 'gateway-0 restore']);
  });

  /** Strikes with `redis-stop` until it is over. @returns for each strike whether it was told that it is the first */
  async function strikesUntil(
    isOver: (strikes: number) => boolean,
    hasMet: (strikes: number) => boolean,
  ): Promise<boolean[]> {
    const firsts: boolean[] = [];
    const { 'redis-stop': strike } = strikes;
    strikes['redis-stop'] = async ({ isFirst }) => void firsts.push(isFirst);
    const over = () => isOver(firsts.length);
    try {
      await runFaults(
        ['redis-stop'],
        struck,
        () => () => 0,
        over,
        () => hasMet(firsts.length),
      );
    } finally {
      strikes['redis-stop'] = strike;
    }
    return firsts;
  }

  it('tells a kind of fault that it strikes for the first time, and only then', async () => {
    const firsts = await strikesUntil(
      (strikes) => strikes === 2,
      () => true,
    );
    expect(firsts).to.deep.equal([true, false]);
  });

  it('strikes again after the time of the run while it has met nothing, four times at most', async () => {
    const timesUntil = async (met: number) =>
      (
        await strikesUntil(
          () => true,
          (strikes) => strikes >= met,
        )
      ).length;
    expect([await timesUntil(1), await timesUntil(3), await timesUntil(9)]).to.deep.equal([1, 3, 4]);
  });
});
