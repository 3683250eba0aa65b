import { expect } from 'chai';
import { Heart } from '../../../domain/community/heart.model.js';
import { HeartCounts } from '../../../domain/community/heart-counts.js';
import { interceptCalls } from '../../support/database-calls.js';
import { gate } from '../../support/eventually.js';
import { service } from '../../support/service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Far from the hearts of every other test, and each test here a month from the one before. */
let now = Date.UTC(2400, 0, 1);
/** Numbers that no article has: only hearts are counted. */
let article = 500_000_000;
let giver = 0;

/** Holds the reads of a kind, once they are made, until they are let go. */
function hold(kind: 'aggregate' | 'countDocuments') {
  const { open: go, opened: released } = gate();
  const { open: arrived, opened: made } = gate();
  const stop = interceptCalls([Heart], async (_model, call, run) => {
    const answer = await run();
    if (call !== kind) return answer;
    stop();
    arrived();
    await released;
    return answer;
  });
  return { made, go };
}

describe('heart counts', () => {
  let heartCounts: HeartCounts;

  before(async () => {
    await service();
  });

  beforeEach(() => {
    now += 30 * DAY;
    article += 1;
    heartCounts = new HeartCounts({ now: () => now });
  });

  afterEach(async () => {
    await Heart.deleteMany({ articleId: article });
  });

  /** A heart as some process writes it. */
  async function heart(at = now, over: object = {}): Promise<void> {
    giver += 1;
    const record = { id: article, memberNo: giver, articleId: article, on: true, turn: 1 };
    await Heart.create({ target: 'article', ...record, at: new Date(at), ...over });
  }

  /** The article's hearts by the full count, and by the single one that follows a change here. */
  async function counts(): Promise<unknown[]> {
    const other = new HeartCounts({ now: () => now });
    await other.update();
    const full = other.counts.get(article);
    other.markDirty(article);
    await other.update();
    return [full, other.counts.get(article)];
  }

  const ages: [string, number, object | undefined][] = [
    ['now', 0, { hot: 1, weekly: 1 }],
    ['just within 24 hours', DAY - 1, { hot: 1, weekly: 1 }],
    ['24 hours ago', DAY, { hot: 0, weekly: 1 }],
    ['just within 7 days', 7 * DAY - 1, { hot: 0, weekly: 1 }],
    ['7 days ago', 7 * DAY, undefined],
  ];
  for (const [when, age, expected] of ages) {
    it(`counts a heart given ${when} alike in a full count and in a single one`, async () => {
      await heart(now - age);
      expect(await counts()).to.deep.equal([expected, expected]);
    });
  }

  it('omit removed hearts and those of comments', async () => {
    await heart(now, { on: false });
    await heart(now, { target: 'comment' });
    expect(await counts()).to.deep.equal([undefined, undefined]);
  });

  it('keep a change during the single count of its article', async () => {
    await heartCounts.update();
    await heart();
    heartCounts.markDirty(article);
    const single = hold('countDocuments');
    const updated = heartCounts.update();
    await single.made;
    await heart();
    heartCounts.markDirty(article);
    single.go();
    await updated;
    await heartCounts.update();
    expect(heartCounts.counts.get(article)).to.deep.equal({ hot: 2, weekly: 2 });
  });

  it('keep a change counted singly during a full count', async () => {
    await heartCounts.update();
    await heart();
    heartCounts.markDirty(article);
    const single = hold('countDocuments');
    const first = heartCounts.update();
    await single.made;
    const second = heartCounts.update();
    now += HOUR;
    const everything = hold('aggregate');
    const third = heartCounts.update();
    await everything.made;
    await heart();
    heartCounts.markDirty(article);
    single.go();
    await Promise.all([first, second]);
    everything.go();
    await third;
    expect(heartCounts.counts.get(article)).to.deep.equal({ hot: 2, weekly: 2 });
  });

  it('share one full count among concurrent callers', async () => {
    let full = 0;
    const stop = interceptCalls([Heart], (_model, call, run) => {
      if (call === 'aggregate') full += 1;
      return run();
    });
    await Promise.all([heartCounts.update(), heartCounts.update(), heartCounts.update()]);
    stop();
    expect(full).to.equal(1);
  });

  it('repeat a failed full count at the next call', async () => {
    await heart();
    const stop = interceptCalls([Heart], () => Promise.reject(new Error('database away')));
    const failed = await heartCounts.update().catch((error: Error) => error.message);
    stop();
    expect(failed).to.equal('database away');
    await heartCounts.update();
    expect(heartCounts.counts.get(article)).to.deep.equal({ hot: 1, weekly: 1 });
  });

  it('raise the version with every count, and only then', async () => {
    const versions = [heartCounts.version];
    const update = async () => {
      await heartCounts.update();
      versions.push(heartCounts.version);
    };
    await update();
    await update();
    heartCounts.markDirty(article);
    await update();
    expect(versions.map((version) => version - (versions[0] ?? 0))).to.deep.equal([0, 1, 1, 2]);
  });

  describe('hearts of another process', () => {
    const real = performance.now;
    /** What a full count takes, in ms, by the clock that measures it. */
    let cost = 0;
    let stop = () => {};
    beforeEach(() => {
      let at = 0;
      performance.now = () => at;
      stop = interceptCalls([Heart], async (_model, call, run) => {
        const answer = await run();
        if (call === 'aggregate') at += cost;
        return answer;
      });
    });
    afterEach(() => {
      stop();
      performance.now = real;
    });

    async function seenAfter(ms: number): Promise<boolean> {
      await heartCounts.update();
      await heart();
      now += ms;
      await heartCounts.update();
      return heartCounts.counts.has(article);
    }

    for (const [costs, serves] of [
      [0, 1_000],
      [20, 1_000],
      [100, 5_000],
    ] as const) {
      it(`is seen after ${serves} ms where counting takes ${costs} ms`, async () => {
        cost = costs;
        expect(await seenAfter(serves - 1)).to.equal(false);
        now += 1;
        await heartCounts.update();
        expect(heartCounts.counts.has(article)).to.equal(true);
      });
    }

    it('are counted at once if the clock was set back', async () => {
      cost = 0;
      expect(await seenAfter(-HOUR)).to.equal(true);
    });
  });
});
