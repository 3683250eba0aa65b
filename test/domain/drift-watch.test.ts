import { expect } from 'chai';
import mongoose from 'mongoose';
import { DriftWatch } from '../../domain/drift-watch.js';
import type { Check, Finding } from '../../domain/kernel/verification.js';
import {
  livingProcesses,
  startBeating,
  uniqueProcessName,
} from '../../domain/platform/cluster/heartbeat.model.js';
import { readPass, takePass } from '../../domain/platform/mongo/verify-pass.model.js';
import { createLogger, type Logger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { counted } from '../support/counted.js';
import { interceptCalls } from '../support/database-calls.js';
import { eventually, gate } from '../support/eventually.js';
import { service } from '../support/service.js';

const HOUR_MS = 3_600_000;
const silent = createLogger('silent', 'test');

const drifted = (no: number): Finding => ({
  ...{ area: 'chat', kind: 'planted', record: `room ${no}`, found: 1, expected: 2 },
  text: `room ${no}: 1, but its records say 2`,
});

/** A check that finds these. `ran` is how often it ran; it waits before its end. */
function checkOf(findings: Finding[] = [], waits: Promise<unknown> = Promise.resolve()) {
  const check = {
    ran: 0,
    size: async () => 1,
    async *run(checked: Parameters<Check['run']>[0]) {
      check.ran += 1;
      yield* findings;
      await waits;
      await checked(100);
    },
  };
  return check;
}

/** A logger that keeps what it is told. */
function keptLog() {
  const lines: string[] = [];
  const keep = (_fields: object, text: string) => lines.push(text);
  return { lines, logger: { info: keep, warn: keep } as unknown as Logger };
}

describe('the background pass of verify', () => {
  const ends: (() => Promise<unknown>)[] = [];
  before(service);
  beforeEach(() => mongoose.connection.collection('verify_passes').deleteMany({ _id: 'verify' as never }));
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** A process that watches. */
  async function watch(check: Check, { everyMs = HOUR_MS, logger = silent, recordsPerSecond = 1e9 } = {}) {
    const name = uniqueProcessName();
    const stopBeating = await startBeating(name, logger);
    const options = { everyMs, checks: () => [check], name, logger, recordsPerSecond };
    const driftWatch = new DriftWatch(options);
    ends.push(stopBeating, () => driftWatch.close());
    return { name, close: () => driftWatch.close() };
  }

  const done = () => eventually(async () => expect((await readPass())?.doneAt).to.be.a('date'));

  it('runs in one process at a time, at its interval', async () => {
    const end = gate();
    const checks = [1, 2, 3].map(() => checkOf([], end.opened));
    const ran = () => checks.reduce((sum, check) => sum + check.ran, 0);
    for (const check of checks) await watch(check, { everyMs: 50 });
    await eventually(() => expect(ran()).to.equal(1));
    expect(await takePass(uniqueProcessName(), 1), 'for another').to.equal(undefined);
    end.open();
    await eventually(() => expect(ran()).to.be.greaterThan(2));
  });

  it('is not due again before its interval, whichever process asks', async () => {
    const [first, second] = [checkOf(), checkOf()];
    await watch(first);
    await done();
    const { startedAt } = (await readPass()) ?? {};
    const { close } = await watch(second);
    await close();
    expect([first.ran, second.ran, (await readPass())?.startedAt]).to.deep.equal([1, 0, startedAt]);
  });

  it('is taken over from a process that stops, and from one that died', async () => {
    const end = gate();
    const stopped = await watch(checkOf([], end.opened));
    await eventually(async () => expect((await readPass())?.holder).to.equal(stopped.name));
    const closed = stopped.close();
    end.open();
    await closed;
    expect((await readPass())?.doneAt).to.equal(undefined);
    await takePass('a process that beats no more', HOUR_MS);
    const next = checkOf();
    await watch(next);
    await done();
    expect(next.ran).to.equal(1);
  });

  it('logs a difference once, counts it each time, and shows the last pass', async () => {
    const { lines, logger } = keptLog();
    const findings = [drifted(1), drifted(2)];
    const check = checkOf(findings);
    const before = await counted(metrics.verifyDrift, { kind: 'planted' });
    await watch(check, { everyMs: 20, logger });
    await eventually(() => expect(check.ran).to.be.greaterThan(2));
    const logged = (no: number) => lines.filter((line) => line.includes(`room ${no}: 1, but`));
    expect([logged(1), logged(2)].map(({ length }) => length)).to.deep.equal([1, 1]);
    expect(logged(1)[0]).to.equal('a stored value differs: room 1: 1, but its records say 2');
    expect((await counted(metrics.verifyDrift, { kind: 'planted' })) - before).to.be.at.least(4);
    await eventually(async () => {
      const [differences, completed] = await Promise.all(
        [metrics.verifyDifferences, metrics.verifyCompleted].map((gauge) => counted(gauge)),
      );
      expect(differences).to.equal(2);
      expect(completed).to.equal(((await readPass())?.doneAt?.getTime() ?? 0) / 1_000);
    });
    // One that was repaired and comes back is news.
    findings.length = 1;
    await eventually(async () => expect((await readPass())?.differences).to.equal(1));
    findings.push(drifted(2));
    await eventually(() => expect(logged(2)).to.have.length(2));
  });

  it('reads at most so many records a second', async () => {
    const before = performance.now();
    await watch(checkOf(), { recordsPerSecond: 500 });
    await done();
    expect(performance.now() - before).to.be.at.least(195);
  });

  it('survives a fault, and tries again when it is due', async () => {
    const { lines, logger } = keptLog();
    let fails = true;
    const check: Check = {
      size: async () => 1,
      async *run(checked) {
        yield* [];
        if (fails) throw new Error('the database is away');
        await checked(1);
      },
    };
    await watch(check, { everyMs: 20, logger });
    const retrying = 'stored values could not be compared with their records; retrying later';
    await eventually(() => expect(lines).to.include(retrying));
    fails = false;
    await done();
    expect(lines).to.include('all stored values agree with their records');
  });

  it('logs once that the database is away', async () => {
    const { lines, logger } = keptLog();
    let asked = 0;
    const pass = mongoose.model('VerifyPass');
    const restore = interceptCalls([pass], async () => {
      asked += 1;
      throw new Error('the database is away');
    });
    try {
      await watch(checkOf(), { everyMs: 5, logger });
      await eventually(() => expect(asked).to.be.greaterThan(3));
    } finally {
      restore();
    }
    expect(lines).to.deep.equal(['stored values could not be compared with their records; retrying later']);
    await done();
  });

  it('shows from when on the lack of a complete pass is a fault: of the first, too', async () => {
    const expectLate = async (from: Date | undefined, hours: number) =>
      expect(Math.round((await counted(metrics.verifyLate)) * 1_000)).to.equal(
        (from?.getTime() ?? 0) + hours * HOUR_MS,
      );
    const end = gate();
    await watch(checkOf([], end.opened));
    await eventually(async () => expect(await readPass()).to.be.an('object'));
    const { since } = (await readPass()) ?? {};
    // Another process, which has no turn.
    const other = await watch(checkOf(), { everyMs: 48 * HOUR_MS });
    await eventually(() => expectLate(since, 144));
    await other.close();
    end.open();
    await done();
    const { doneAt } = (await readPass()) ?? {};
    await eventually(() => expectLate(doneAt, 24));
  });

  it('paces what it reads a second time, too, and counts it once', async () => {
    const { logger } = keptLog();
    const infos: { records: number }[] = [];
    logger.info = ((fields: { records: number }) => infos.push(fields)) as never;
    const check: Check = {
      size: async () => 1,
      async *run(checked) {
        yield* [];
        await checked(10);
        await checked(100, true);
      },
    };
    const before = performance.now();
    await watch(check, { recordsPerSecond: 500, logger });
    await done();
    expect(performance.now() - before).to.be.at.least(215);
    await eventually(() => expect(infos.map(({ records }) => records)).to.deep.equal([10]));
  });
});

describe('heartbeats', () => {
  before(service);

  it('show the processes that serve, until they stop', async () => {
    const own = await livingProcesses();
    expect(own, 'the service in this process').to.have.length(1);
    expect(own[0]).to.match(/^process \d+ on .+, [0-9a-f]{8}$/);
    const name = uniqueProcessName();
    const stop = await startBeating(name, silent);
    expect(await livingProcesses()).to.have.members([...own, name]);
    const long = { $set: { at: new Date(Date.now() - 91_000) } };
    await mongoose.connection.collection('heartbeats').updateOne({ _id: name as never }, long);
    expect(await livingProcesses()).to.deep.equal(own);
    await stop();
    expect(await mongoose.connection.collection('heartbeats').countDocuments({})).to.equal(1);
  });

  it('count whatever the clocks of processes show', async () => {
    const { now } = Date;
    Date.now = () => now() + HOUR_MS;
    const name = uniqueProcessName();
    const stop = await startBeating(name, silent);
    try {
      expect(await livingProcesses()).to.include(name);
    } finally {
      Date.now = now;
      await stop();
    }
  });

  it('are tried again a second later if they cannot be stored, from the first on', async () => {
    let failures = 0;
    const restore = interceptCalls([mongoose.model('Heartbeat')], async (_model, call, run) => {
      if (call !== 'updateOne' || failures === 2) return run();
      failures += 1;
      throw new Error('the database is away');
    });
    const name = uniqueProcessName();
    const startedAt = performance.now();
    const stop = await startBeating(name, silent);
    try {
      expect(await livingProcesses()).to.not.include(name);
      await eventually(async () => expect(await livingProcesses()).to.include(name));
    } finally {
      restore();
      await stop();
    }
    expect(failures).to.equal(2);
    expect(performance.now() - startedAt, 'not only with the next regular one').to.be.below(20_000);
  });

  it('log once that they fail, and end although the database does not answer', async () => {
    const { lines, logger } = keptLog();
    const { setInterval } = globalThis;
    let beat = () => {};
    globalThis.setInterval = ((look: () => void) => {
      beat = look;
      return { unref: () => undefined };
    }) as never;
    let stop: () => Promise<void>;
    let failed = 0;
    const restore = interceptCalls([mongoose.model('Heartbeat')], async (_model, call, run) => {
      if (call === 'deleteOne') return new Promise(() => {});
      if (call !== 'updateOne') return run();
      failed += 1;
      throw new Error('the database is away');
    });
    try {
      stop = await startBeating('a process that cannot write', logger);
      for (const times of [2, 3]) {
        beat();
        await eventually(() => expect(failed).to.equal(times));
      }
      await stop();
    } finally {
      globalThis.setInterval = setInterval;
      restore();
    }
    expect(lines).to.deep.equal(['heartbeats cannot be stored; they are retried']);
  });
});
