import { expect } from 'chai';
import { metrics } from '../../../../domain/platform/observe/metrics.js';
import { Overload } from '../../../../domain/platform/process/overload.js';
import { counted } from '../../../support/counted.js';
import { nextTurn } from '../../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../../support/time.js';
import { createWatchedLogger } from '../../../support/unexpected-errors.js';

const TARGET_MS = 10;

/** A decision is made so often, ms, and the first one so long after the start. */
const WINDOW_MS = 100;
const STARTING_MS = 2_000;

/** More than is ever limited. */
const MANY = 2_000;

describe('overload', () => {
  let time: FakeTime;
  let overload: Overload;
  let stop: () => void;
  /** Ends the oldest pieces of work under way. */
  let ends: (() => void)[];

  beforeEach(async () => {
    time = fakeTime();
    overload = new Overload(createWatchedLogger(), TARGET_MS);
    stop = overload.watch();
    ends = [];
    await time.pass(STARTING_MS);
  });
  afterEach(() => {
    stop();
    time.restore();
  });

  /** Brings so many pieces of work, all of which wait. @returns how many of them were taken on */
  function bring(count: number): number {
    const before = ends.length;
    for (let i = 0; i < count; i += 1)
      if (!overload.refuse('request'))
        void overload.follow(new Promise<void>((resolve) => ends.push(resolve)));
    return ends.length - before;
  }

  /** Ends so many of those that wait, in a later turn of the event loop. */
  async function finish(count = ends.length): Promise<void> {
    await nextTurn();
    for (const end of ends.splice(0, count)) end();
    await nextTurn();
  }

  /** How many pieces are taken on at once now. They are done then. */
  async function limit(): Promise<number> {
    const takenOn = bring(MANY);
    await finish();
    return takenOn;
  }

  /** Keeps `atOnce` pieces under way for a window, in which so many are done per ms. */
  async function work(atOnce: number, donePerMs: number): Promise<void> {
    const stepMs = 5;
    for (let ms = 0; ms < WINDOW_MS; ms += stepMs) {
      bring(atOnce - ends.length);
      await time.pass(stepMs);
      await finish(donePerMs * stepMs);
    }
  }

  /** Takes on so many of 100 events, or connects, in one turn. */
  const takenInTurn = (kind: 'event' | 'connect') =>
    Array.from({ length: 100 }, () => overload.refuse(kind)).filter((refused) => !refused).length;

  it('refuses nothing while work is done in time, however much it is', async () => {
    // 300 under way, 40 done per ms: each takes 7.5 ms.
    for (let i = 0; i < 5; i += 1) await work(300, 40);
    expect(await limit()).to.equal(MANY);
  });

  it('takes on as much as is done in time, once it takes longer for most of 100 ms', async () => {
    // 200 under way, 5 done per ms: each takes 40 ms, four times as long as it is to.
    await work(200, 5);
    await finish();
    expect(await limit()).to.be.within(45, 55);
  });

  it('takes on other work while all places of queues of their own are taken', async () => {
    // 16 searches that wait for each other: then little else was taken on.
    overload = new Overload(createWatchedLogger(), TARGET_MS, 10);
    stop();
    stop = overload.watch();
    await time.pass(STARTING_MS);
    bring(10);
    await time.pass(1_000);
    expect(bring(16)).to.equal(16);
    await time.pass(WINDOW_MS);
    expect(bring(MANY)).to.equal(0);
  });

  it('limits nothing because of a queue that lasts for less than half of 100 ms', async () => {
    for (let i = 0; i < 5; i += 1) {
      bring(200);
      await time.pass(40);
      await finish();
      await time.pass(60);
    }
    expect(await limit()).to.equal(MANY);
  });

  it('refuses nothing because of few pieces, however slow, nor hides slow ones behind quick ones', async () => {
    bring(15);
    await time.pass(1_000);
    expect(bring(MANY)).to.equal(MANY);
    await finish();
    // 40 that take 40 ms each, beside many that wait for nothing.
    for (let i = 0; i < 5; i += 1) {
      bring(40);
      for (let j = 0; j < 1_000; j += 1) await overload.follow(Promise.resolve());
      await work(40, 1);
    }
    await finish();
    expect(await limit()).to.be.below(30);
  });

  it('always takes on sixteen pieces at once', async () => {
    bring(500);
    await time.pass(2_000);
    expect(bring(1)).to.equal(0);
    await finish();
    expect(await limit()).to.equal(16);
  });

  it('takes on more step by step once work is done in time, and everything after 5 s at the latest', async () => {
    bring(500);
    await time.pass(500);
    await finish();
    const limits: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await time.pass(WINDOW_MS);
      limits.push(await limit());
    }
    expect(limits).to.deep.equal([18, 20, 22, 24]);
    await time.pass(5_000);
    expect(await limit()).to.equal(MANY);
  });

  it('counts work that waits for nothing until the event loop turns, and limits it by the lag', async () => {
    expect(takenInTurn('event')).to.equal(100);
    for (let i = 0; i < 4; i += 1) {
      time.skip(40);
      await time.pass(20);
    }
    await nextTurn();
    const limited = takenInTurn('event');
    expect(limited).to.be.within(16, 40);
    expect(takenInTurn('event'), 'in the same turn').to.equal(0);
    await nextTurn();
    expect(takenInTurn('event'), 'in the next one').to.equal(limited);
    await nextTurn();
    expect(takenInTurn('connect'), 'half as many connects').to.equal(Math.ceil(limited / 2));
  });

  it('limits nothing after a single pause, as of the garbage collector', async () => {
    for (let i = 0; i < 10; i += 1) {
      expect(takenInTurn('event')).to.equal(100);
      time.skip(50);
      await time.pass(WINDOW_MS);
    }
  });

  it('refuses everything once the heap is nearly full, until some of it is free', async () => {
    for (const [heap, expected] of [
      [0.89, MANY],
      [0.91, 0],
      [0.86, 0],
      [0.84, MANY],
    ] as const) {
      overload.sample({ lagMs: 0, heap });
      expect(await limit(), `heap ${heap}`).to.equal(expected);
    }
  });

  it('asks refused clients to wait, each another time, and counts them', async () => {
    overload.sample({ lagMs: 0, heap: 0.91 });
    const waits = new Set<number | undefined>();
    const before = await counted(metrics.workRefused, { work: 'event' });
    for (let i = 0; i < 50; i += 1) {
      const error = overload.refuse('event');
      expect(error).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(error?.retryAfterMs).to.be.within(1_000, 5_000);
      waits.add(error?.retryAfterMs);
    }
    expect((await counted(metrics.workRefused, { work: 'event' })) - before).to.equal(50);
    expect(waits.size).to.be.above(10);
  });

  it('reports the share of work that it took on in the last 100 ms', async () => {
    const share = async () => (await metrics.workAccepted.get()).values[0]?.value;
    expect(await share()).to.equal(1);
    bring(500);
    await time.pass(500);
    await finish();
    await time.pass(WINDOW_MS);
    expect(bring(64)).to.be.within(16, 20);
    await time.pass(WINDOW_MS);
    expect(await share()).to.be.within(0.25, 0.3);
    await finish();
    await time.pass(2 * WINDOW_MS);
    expect(await share(), 'asked for nothing').to.equal(1);
  });

  it('lasts after 2 s, or at once after a block as long, until 2 s without overload', async () => {
    bring(100);
    await time.pass(1_800);
    expect(overload.isLasting).to.equal(false);
    await time.pass(300);
    expect(overload.isLasting).to.equal(true);
    await finish();
    await time.pass(1_800);
    expect(overload.isLasting).to.equal(true);
    await time.pass(400);
    expect(overload.isLasting).to.equal(false);
    time.skip(3_000);
    await time.pass(20);
    expect(overload.isLasting).to.equal(true);
  });

  it('47: limits what it takes on after the event loop was blocked, and recovers by itself', async () => {
    for (let i = 0; i < 100; i += 1) overload.refuse('event');
    time.skip(3_000);
    await time.pass(20);
    await nextTurn();
    expect(takenInTurn('event')).to.equal(16);
    await time.pass(5_000);
    expect(await limit()).to.equal(MANY);
  });
});
