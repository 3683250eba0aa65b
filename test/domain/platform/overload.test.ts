import { expect } from 'chai';
import { metrics } from '../../../domain/platform/metrics.js';
import { Overload } from '../../../domain/platform/overload.js';
import { counted } from '../../support/counted.js';
import { eventually } from '../../support/eventually.js';
import { createWatchedLogger } from '../../support/unexpected-errors.js';

const QUEUE_MS = 30;

const CALM = { lagMs: 1, busy: 0.1, heap: 0.2, queuedMs: 0 };
const LAGGING = { ...CALM, lagMs: 80, busy: 1 };
const QUEUED = { ...CALM, lagMs: 0, queuedMs: QUEUE_MS + 1 };
const FULL = { ...CALM, heap: 0.91 };

describe('overload', () => {
  let overload: Overload;
  beforeEach(() => {
    overload = new Overload(createWatchedLogger(), QUEUE_MS);
  });

  /** Takes the sample several times. @returns how many of 100 requests are taken on then */
  function taken(sample: typeof CALM, times: number): number {
    for (let i = 0; i < times; i += 1) overload.sample(sample);
    let count = 0;
    for (let i = 0; i < 100; i += 1) if (!overload.refuse('request')) count += 1;
    return count;
  }

  const refusedEvents = () => counted(metrics.workRefused, { work: 'event' });

  /** How many of 100 are refused. */
  const refusals = (work: 'connect' | 'event') =>
    Array.from({ length: 100 }, () => overload.refuse(work)).filter((refused) => refused).length;

  it('refuses more and more while the event loop lags, and less and less after it', () => {
    expect(taken(CALM, 100)).to.equal(100);
    const shares = [taken(LAGGING, 1), taken(LAGGING, 1), taken(LAGGING, 2), taken(LAGGING, 100)];
    expect(shares).to.deep.equal([80, 64, 40, 5]);
    const later = [taken(CALM, 5), taken(CALM, 5), taken(CALM, 20)];
    expect(later.every((share, i) => share > (later[i - 1] ?? 5) && share < 100)).to.equal(true);
    expect(taken(CALM, 100)).to.equal(100);
  });

  it('takes everything on after a single pause, as of the garbage collector', () => {
    for (let i = 0; i < 20; i += 1) {
      overload.sample({ ...LAGGING, lagMs: 40 });
      expect(taken(CALM, 2)).to.equal(100);
    }
  });

  it('refuses more and more while work waits for the database, however idle the event loop', () => {
    expect(taken({ ...QUEUED, queuedMs: QUEUE_MS }, 100)).to.equal(100);
    // A window is five samples.
    expect([taken(QUEUED, 5), taken(QUEUED, 5), taken(QUEUED, 100)]).to.deep.equal([80, 64, 5]);
    expect(taken(CALM, 120)).to.equal(100);
  });

  it('takes everything on after the process stood still, however much was under way', () => {
    expect(taken({ ...QUEUED, lagMs: 1_000, queuedMs: 1_010 }, 10)).to.equal(100);
  });

  it('takes everything on while the queue ends again and again', () => {
    for (let i = 0; i < 20; i += 1) {
      for (let j = 0; j < 4; j += 1) overload.sample(QUEUED);
      expect(taken(CALM, 1)).to.equal(100);
    }
  });

  it('has a queue while sixteen use cases are under way, as old as they are, whether they fail or not', async () => {
    const ends: (() => void)[] = [];
    const follow = () =>
      overload.follow(new Promise<void>((resolve, reject) => ends.push(ends.length % 2 ? resolve : reject)));
    const slow = Array.from({ length: 15 }, follow);
    expect(overload.queuedMs).to.equal(0);
    slow.push(follow());
    await eventually(() => expect(overload.queuedMs).to.be.above(1));
    ends[3]?.();
    await slow[3];
    expect(overload.queuedMs).to.equal(0);
    for (const end of ends) end();
    await Promise.allSettled(slow);
  });

  it('takes everything on while other processes have the processor', () => {
    expect(taken({ ...LAGGING, busy: 0.5 }, 100)).to.equal(100);
  });

  it('refuses everything once the heap is nearly full, until some of it is free', () => {
    expect(taken({ ...CALM, heap: 0.89 }, 1)).to.equal(100);
    expect(taken(FULL, 1)).to.equal(0);
    expect(taken({ ...CALM, heap: 0.86 }, 100)).to.equal(0);
    expect(taken({ ...CALM, heap: 0.84 }, 1)).to.equal(100);
  });

  it('refuses events like requests, and connects more often', () => {
    expect(overload.refuse('connect')).to.equal(undefined);
    overload.sample(LAGGING);
    expect([refusals('connect'), refusals('event')]).to.deep.equal([36, 20]);
  });

  it('asks refused clients to wait, each another time, and counts them', async () => {
    overload.sample(FULL);
    const waits = new Set<number | undefined>();
    const before = await refusedEvents();
    for (let i = 0; i < 50; i += 1) {
      const error = overload.refuse('event');
      expect(error).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(error?.retryAfterMs).to.be.within(1_000, 5_000);
      waits.add(error?.retryAfterMs);
    }
    expect((await refusedEvents()) - before).to.equal(50);
    expect(waits.size).to.be.above(10);
  });

  it('lasts after 2 s, or at once after a block as long, and ends with the last refusal', () => {
    for (let i = 0; i < 19; i += 1) overload.sample(LAGGING);
    expect(overload.isLasting).to.equal(false);
    overload.sample(LAGGING);
    expect(overload.isLasting).to.equal(true);
    taken(CALM, 200);
    expect(overload.isLasting).to.equal(false);
    overload.sample({ ...LAGGING, lagMs: 3_000 });
    expect(overload.isLasting).to.equal(true);
  });

  it('47: refuses connects after the event loop was blocked, and recovers by itself', async () => {
    const stop = overload.watch();
    try {
      await eventually(() => {
        const end = performance.now() + 300;
        while (performance.now() < end);
        expect(refusals('connect')).to.be.above(50);
      });
      await eventually(() => expect(refusals('connect')).to.equal(0));
    } finally {
      stop();
    }
  });
});
