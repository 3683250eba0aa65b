import { mock } from 'node:test';
import { expect } from 'chai';
import { createHoles } from '../../../domain/notifications/holes.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { createTail } from '../../../domain/notifications/tail.js';
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
  async function begun() {
    const found: number[] = [];
    const tail = createTail(
      () => false,
      async (records) => {
        found.push(...records.map(({ _id }) => _id));
      },
      createLogger('silent', 'test'),
    );
    await tail.start();
    return {
      found,
      look: () => mock.timers.tick(5_000),
      stop: () => tail.stop(),
    };
  }

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
});

describe('missing numbers', () => {
  it('are kept as spans until they are filled, or too old, or too many', () => {
    const holes = createHoles();
    const spans = (now: number) => holes.spans(now).map(({ from, to }) => [from, to]);
    holes.add({ from: 5, to: 4 }, 0);
    expect(spans(0)).to.deep.equal([]);
    holes.add({ from: 1, to: 5 }, 0);
    holes.add({ from: 9, to: 9 }, 1_000);
    holes.fill(3);
    holes.fill(9);
    holes.fill(77);
    expect(spans(0)).to.deep.equal([
      [1, 2],
      [4, 5],
    ]);
    holes.fill(4);
    holes.add({ from: 20, to: 21 }, 300_000);
    expect(spans(600_000)).to.deep.equal([[20, 21]]);
    for (let i = 0; i < 2_000; i += 1) holes.add({ from: 100 + 2 * i, to: 100 + 2 * i }, 600_000);
    expect(spans(600_000)).to.have.length(1_000);
    expect(spans(600_000).at(-1)).to.deep.equal([4_098, 4_098]);
  });
});
