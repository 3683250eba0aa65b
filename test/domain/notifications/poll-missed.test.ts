import { mock } from 'node:test';
import { expect } from 'chai';
import { MissingIds } from '../../../domain/notifications/missing-ids.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { MissedPoll } from '../../../domain/notifications/poll-missed.js';
import { nextNumbers } from '../../../domain/platform/mongo/sequence.model.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { eventually, gate } from '../../support/eventually.js';
import { storedNotification } from '../../support/notifications.js';
import { service } from '../../support/service.js';

/** A member without a record: a notification needs only the number. */
const MEMBER = 850_000_000;
let lastN = 0;

/** Stores a notification with each of these ids. */
async function store(ids: number[]): Promise<void> {
  const records = ids.map((_id) => storedNotification({ _id, memberNo: MEMBER, n: ++lastN }));
  await Notification.collection.insertMany(records as never[]);
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('the poll for missed notifications', () => {
  beforeEach(async () => {
    await service();
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => mock.timers.reset());

  /** A started poll, and what it has found. */
  async function started(onDeliver: () => Promise<void> | void = () => {}) {
    const found: number[] = [];
    /** Sizes of the batches delivered. */
    const batches: number[] = [];
    const logger = createLogger('silent', 'test');
    const warned = mock.method(logger, 'warn');
    const missedPoll = new MissedPoll({
      wasDelivered: () => false,
      lacks: () => false,
      async deliver(records) {
        batches.push(records.length);
        await onDeliver();
        found.push(...records.map(({ _id }) => _id));
      },
      ...{ logger, reports: undefined },
    });
    await missedPoll.start();
    return {
      found,
      batches,
      failures: () => warned.mock.callCount(),
      poll: () => mock.timers.tick(5_000),
      stop: () => missedPoll.stop(),
    };
  }

  it('asks for no ids below the first', async () => {
    const id = await nextNumbers('notification');
    await store([id]);
    const { poll, stop } = await started();
    const reads = mock.method(Notification.collection, 'aggregate');
    poll();
    await eventually(() => expect(reads.mock.callCount()).to.be.above(0));
    await stop();
    const asked = reads.mock.calls.flatMap(({ arguments: [stages] }) => {
      const [{ $match }] = stages as unknown as [{ $match: { $or?: { _id: { $gte: number } }[] } }];
      return ($match.$or ?? []).map(({ _id }) => _id.$gte);
    });
    reads.mock.restore();
    expect(asked.filter((from) => from < 1)).to.deep.equal([]);
  });

  it('finds what a stalled writer stores after thousands of higher ids, each once', async () => {
    const { found, poll, stop } = await started();
    const late = await nextNumbers('notification', 3);
    const others = range(await nextNumbers('notification', 2_500), 2_500);
    await store(others);
    poll();
    await eventually(() => expect(found).to.include(others.at(-1)));
    await store([late + 1]);
    poll();
    await eventually(() => expect(found).to.include(late + 1));
    await store([late, late + 2]);
    poll();
    await eventually(() => expect(found).to.include.members([late, late + 2]));
    await stop();
    const mine = found.filter((id) => id >= late && id <= (others.at(-1) as number));
    expect(mine.sort((a, b) => a - b)).to.deep.equal([...range(late, 3), ...others]);
  });

  it('finds what a writer stores that stalled before the poll started', async () => {
    const late = await nextNumbers('notification');
    await store(range(await nextNumbers('notification', 2_500), 2_500));
    const { found, poll, stop } = await started();
    await store([late]);
    poll();
    await eventually(() => expect(found).to.include(late));
    await stop();
    expect(found, 'what was stored before is history').to.not.include(late + 1);
  });

  it('continues after a failure, and delivers what was left', async () => {
    const { found, failures, poll, stop } = await started();
    const ids = range(await nextNumbers('notification', 2), 2);
    await store(ids);
    const { collection } = Notification;
    const failing = mock.method(collection, 'aggregate', () => {
      throw new Error('the database is away');
    });
    poll();
    // The service polls, too: only this poll's failure counts.
    await eventually(() => expect(failures()).to.equal(1));
    failing.mock.restore();
    poll();
    await eventually(() => expect(found).to.deep.equal(ids));
    await stop();
  });

  it('polls every five seconds, one poll at a time', async () => {
    const { found, poll, stop } = await started();
    const id = await nextNumbers('notification');
    await store([id]);
    const reads = mock.method(Notification.collection, 'aggregate');
    mock.timers.tick(4_999);
    expect(reads.mock.callCount()).to.equal(0);
    mock.timers.tick(1);
    poll();
    poll();
    await eventually(() => expect(found).to.deep.equal([id]));
    await stop();
    expect(found).to.deep.equal([id]);
    reads.mock.restore();
  });

  it('lets one poll wait, however many are asked for during another, and starts none after the stop', async () => {
    let delivery = gate();
    const { batches, failures, poll, stop } = await started(async () => {
      await delivery.opened;
      throw new Error('the names cannot be read');
    });
    await store([await nextNumbers('notification')]);
    const askOften = () => {
      for (let asked = 0; asked < 20; asked += 1) poll();
    };
    askOften();
    await eventually(() => expect(batches).to.have.length(1));
    askOften();
    delivery.open();
    await eventually(() => expect(failures()).to.equal(2));
    delivery = gate();
    askOften();
    await eventually(() => expect(batches).to.have.length(3));
    const stopped = stop();
    delivery.open();
    await stopped;
    expect([batches.length, failures()]).to.deep.equal([3, 3]);
  });

  it('asks for at most a hundred ranges at a time, and finds records in all of them', async () => {
    const { found, poll, stop } = await started();
    const first = await nextNumbers('notification', 501);
    const everySecond = range(0, 251).map((i) => first + 2 * i);
    await store(everySecond);
    poll();
    await eventually(() => expect(found).to.have.length(251));
    const between = everySecond.slice(0, -1).map((id) => id + 1);
    await store(between);
    const reads = mock.method(Notification.collection, 'aggregate');
    poll();
    await eventually(() => expect(found).to.have.length(501));
    const asked = reads.mock.calls.map(({ arguments: [stages] }) => {
      const [{ $match }] = stages as unknown as [{ $match: { $or?: object[] } }];
      return $match.$or?.length ?? 0;
    });
    expect(Math.max(...asked)).to.be.within(2, 100);
    expect(found.slice(251), 'lowest first').to.deep.equal(between);
    reads.mock.restore();
    await stop();
  });

  it('delivers everything in one poll, a thousand at a time, unless it is stopped', async () => {
    let stopping: Promise<void> | undefined;
    const stopped = await started(() => {
      stopping ??= stopped.stop();
    });
    const goesOn = await started();
    const ids = range(await nextNumbers('notification', 5_500), 5_500);
    await store(ids);
    // Polls both.
    goesOn.poll();
    await eventually(() => expect(stopping).to.not.equal(undefined));
    await stopping;
    expect(stopped.batches).to.deep.equal(Array(5).fill(1_000));
    expect(stopped.found).to.deep.equal(ids.slice(0, 5_000));
    await eventually(() => expect(goesOn.found).to.have.length(5_500));
    await goesOn.stop();
    expect(goesOn.batches).to.deep.equal([...Array(5).fill(1_000), 500]);
    expect(goesOn.found).to.deep.equal(ids);
  });
});

describe('missing ids', () => {
  it('are kept as ranges until they are seen, too old, or too many', () => {
    const missing = new MissingIds();
    const ranges = (now: number) => missing.ranges(now).map(({ from, to }) => [from, to]);
    missing.add({ from: 5, to: 4 }, 0);
    expect(ranges(0)).to.deep.equal([]);
    missing.add({ from: 1, to: 5 }, 0);
    missing.add({ from: 9, to: 9 }, 1_000);
    missing.remove(3);
    missing.remove(9);
    missing.remove(77);
    expect(ranges(0)).to.deep.equal([
      [1, 2],
      [4, 5],
    ]);
    missing.remove(4);
    missing.add({ from: 20, to: 21 }, 300_000);
    expect(ranges(600_000)).to.deep.equal([[20, 21]]);
    for (let i = 0; i < 2_000; i += 1) missing.add({ from: 100 + 2 * i, to: 100 + 2 * i }, 600_000);
    expect(ranges(600_000)).to.have.length(1_000);
    expect(ranges(600_000).at(-1)).to.deep.equal([4_098, 4_098]);
  });
});
