import { mock } from 'node:test';
import { expect } from 'chai';
import { MissingIds } from '../../../domain/notifications/missing-ids.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { MissedPoll } from '../../../domain/notifications/poll-missed.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { nextNumbers } from '../../../domain/platform/sequence.model.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../../support/service.js';

/** A member of no account: a notification needs no more than their number. */
const MEMBER = 850_000_000;
let lastN = 0;

/** Stores a notification of each of these numbers. */
async function store(ids: number[]): Promise<void> {
  await Notification.collection.insertMany(
    ids.map((_id) => {
      lastN += 1;
      return {
        ...{ _id: _id as never, memberNo: MEMBER, n: lastN, cause: `tail:${_id}`, content: 'hello' },
        ...{ type: 'note', url: '/note/1', originNo: 0, checked: false, deleted: false },
        publishedAt: new Date(),
      };
    }),
  );
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('the tail of notifications', () => {
  beforeEach(async () => {
    await service();
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => mock.timers.reset());

  /** A tail that has begun; what it finds is kept. */
  async function begun(onDeliver: () => Promise<void> | void = () => {}) {
    const found: number[] = [];
    /** How many were delivered at a time. */
    const parts: number[] = [];
    const tail = new MissedPoll(
      () => false,
      async (records) => {
        parts.push(records.length);
        await onDeliver();
        found.push(...records.map(({ _id }) => _id));
      },
      createLogger('silent', 'test'),
    );
    await tail.start();
    return {
      found,
      parts,
      look: () => mock.timers.tick(5_000),
      stop: () => tail.stop(),
    };
  }

  it('asks for no numbers below the first', async () => {
    const id = await nextNumbers('notification');
    await store([id]);
    const { look, stop } = await begun();
    const reads = mock.method(Notification.collection, 'aggregate');
    look();
    await eventually(() => expect(reads.mock.callCount()).to.be.above(0));
    await stop();
    const asked = reads.mock.calls.flatMap(({ arguments: [stages] }) => {
      const [{ $match }] = stages as unknown as [{ $match: { $or?: { _id: { $gte: number } }[] } }];
      return ($match.$or ?? []).map(({ _id }) => _id.$gte);
    });
    reads.mock.restore();
    expect(asked.filter((from) => from < 1)).to.deep.equal([]);
  });

  it('finds what a stalled writer stores after thousands of higher numbers, each once', async () => {
    const { found, look, stop } = await begun();
    const late = await nextNumbers('notification', 3);
    const others = range(await nextNumbers('notification', 2_500), 2_500);
    await store(others);
    look();
    await eventually(() => expect(found).to.include(others.at(-1)));
    await store([late + 1]);
    look();
    await eventually(() => expect(found).to.include(late + 1));
    await store([late, late + 2]);
    look();
    await eventually(() => expect(found).to.include.members([late, late + 2]));
    await stop();
    const mine = found.filter((id) => id >= late && id <= (others.at(-1) as number));
    expect(mine.sort((a, b) => a - b)).to.deep.equal([...range(late, 3), ...others]);
  });

  it('finds what a writer stores that was stalled before it began', async () => {
    const late = await nextNumbers('notification');
    await store(range(await nextNumbers('notification', 2_500), 2_500));
    const { found, look, stop } = await begun();
    await store([late]);
    look();
    await eventually(() => expect(found).to.include(late));
    await stop();
    expect(found, 'what was stored before is history').to.not.include(late + 1);
  });

  it('goes on after a look that failed, and delivers what that one has not', async () => {
    const { found, look, stop } = await begun();
    const ids = range(await nextNumbers('notification', 2), 2);
    await store(ids);
    const { collection } = Notification;
    const failing = mock.method(collection, 'aggregate', () => {
      throw new Error('the database is away');
    });
    look();
    await eventually(() => expect(failing.mock.callCount()).to.equal(1));
    failing.mock.restore();
    look();
    await eventually(() => expect(found).to.deep.equal(ids));
    await stop();
  });

  it('looks every five seconds, at a time when the last look is over', async () => {
    const { found, look, stop } = await begun();
    const id = await nextNumbers('notification');
    await store([id]);
    const reads = mock.method(Notification.collection, 'aggregate');
    mock.timers.tick(4_999);
    expect(reads.mock.callCount()).to.equal(0);
    mock.timers.tick(1);
    look();
    look();
    await eventually(() => expect(found).to.deep.equal([id]));
    await stop();
    expect(found).to.deep.equal([id]);
    reads.mock.restore();
  });

  it('asks for no more than a hundred gaps at a time, and finds what comes into any of them', async () => {
    const { found, look, stop } = await begun();
    const first = await nextNumbers('notification', 501);
    const everySecond = range(0, 251).map((i) => first + 2 * i);
    await store(everySecond);
    look();
    await eventually(() => expect(found).to.have.length(251));
    const between = everySecond.slice(0, -1).map((id) => id + 1);
    await store(between);
    const reads = mock.method(Notification.collection, 'aggregate');
    look();
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

  it('delivers all there is in one look, a thousand at a time, unless it is stopped meanwhile', async () => {
    let stopping: Promise<void> | undefined;
    const stopped = await begun(() => {
      stopping ??= stopped.stop();
    });
    const goesOn = await begun();
    const ids = range(await nextNumbers('notification', 5_500), 5_500);
    await store(ids);
    // Both look.
    goesOn.look();
    await eventually(() => expect(stopping).to.not.equal(undefined));
    await stopping;
    expect(stopped.parts).to.deep.equal(Array(5).fill(1_000));
    expect(stopped.found).to.deep.equal(ids.slice(0, 5_000));
    await eventually(() => expect(goesOn.found).to.have.length(5_500));
    await goesOn.stop();
    expect(goesOn.parts).to.deep.equal([...Array(5).fill(1_000), 500]);
    expect(goesOn.found).to.deep.equal(ids);
  });
});

describe('missing numbers', () => {
  it('are kept as spans until they are filled, or too old, or too many', () => {
    const missing = new MissingIds();
    const spans = (now: number) => missing.ranges(now).map(({ from, to }) => [from, to]);
    missing.add({ from: 5, to: 4 }, 0);
    expect(spans(0)).to.deep.equal([]);
    missing.add({ from: 1, to: 5 }, 0);
    missing.add({ from: 9, to: 9 }, 1_000);
    missing.remove(3);
    missing.remove(9);
    missing.remove(77);
    expect(spans(0)).to.deep.equal([
      [1, 2],
      [4, 5],
    ]);
    missing.remove(4);
    missing.add({ from: 20, to: 21 }, 300_000);
    expect(spans(600_000)).to.deep.equal([[20, 21]]);
    for (let i = 0; i < 2_000; i += 1) missing.add({ from: 100 + 2 * i, to: 100 + 2 * i }, 600_000);
    expect(spans(600_000)).to.have.length(1_000);
    expect(spans(600_000).at(-1)).to.deep.equal([4_098, 4_098]);
  });
});
