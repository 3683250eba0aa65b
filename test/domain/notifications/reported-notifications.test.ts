import { mock } from 'node:test';
import { expect } from 'chai';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { MissedPoll } from '../../../domain/notifications/poll-missed.js';
import { nextNumbers } from '../../../domain/platform/mongo/sequence.model.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { eventually } from '../../support/eventually.js';
import { storedNotification } from '../../support/notifications.js';
import { FakeReports } from '../../support/reports.js';
import { service } from '../../support/service.js';
import { inStoppedTime } from '../../support/time.js';

/** A member without a record: a notification needs only the number. */
const MEMBER = 851_000_000;
let lastN = 0;

/** Stores a notification with each of these ids. */
async function store(ids: number[]): Promise<void> {
  const records = ids.map((_id) => storedNotification({ _id, memberNo: MEMBER, n: ++lastN }));
  await Notification.collection.insertMany(records as never[]);
}

describe('the poll for missed notifications while all processes report', () => {
  let reports: FakeReports;
  /** Notifications that members here should have. */
  let lacking: Set<number>;
  beforeEach(async () => {
    await service();
    mock.timers.enable({ apis: ['setInterval'] });
    reports = new FakeReports();
    lacking = new Set();
  });
  afterEach(() => mock.timers.reset());

  /** A started poll in a process that relies on reports. */
  async function started() {
    const found: number[] = [];
    const poll = new MissedPoll({
      wasDelivered: (id) => found.includes(id),
      lacks: (id) => lacking.has(id),
      deliver: async (records) => void found.push(...records.map(({ _id }) => _id)),
      ...{ logger: createLogger('silent', 'test'), reports },
    });
    await poll.start();
    return { found, poll };
  }

  /** Passes ten seconds: a first poll has ended by then. */
  async function settle(advance: (ms: number) => void): Promise<void> {
    let seconds = 0;
    await until(advance, () => {
      seconds += 1;
      expect(seconds).to.equal(10);
    });
  }

  /** Passes seconds, in which polls end, until the check succeeds. */
  async function until(advance: (ms: number) => void, check: () => void): Promise<void> {
    await eventually(() => {
      advance(1_000);
      mock.timers.tick(1_000);
      check();
    });
  }

  it('is left to the process on duty, except after a loss', () =>
    inStoppedTime(async (advance) => {
      const { found, poll } = await started();
      await settle(advance);
      const id = await nextNumbers('notification');
      await store([id]);
      await settle(advance);
      await settle(advance);
      expect(found).to.deep.equal([]);
      reports.isComplete = false;
      await until(advance, () => expect(found).to.deep.equal([id]));
      await poll.stop();
    }));

  it('skips after a loss what the process on duty polled long before', () =>
    inStoppedTime(async (advance) => {
      const { found, poll } = await started();
      await settle(advance);
      const [early, late] = [await nextNumbers('notification'), await nextNumbers('notification')];
      await store([early, late]);
      reports.tell({ polledUpTo: early });
      reports.isComplete = false;
      reports.tell({ polledUpTo: late });
      await until(advance, () => expect(found).to.include(late));
      expect(found).to.not.include(early);
      await poll.stop();
    }));

  it('on duty finds what nobody reports as published, and tells it once', () =>
    inStoppedTime(async (advance) => {
      reports.isOnDuty = true;
      const { found, poll } = await started();
      await settle(advance);
      const first = await nextNumbers('notification', 4);
      reports.published.add(first + 1);
      await store([first, first + 1, first + 2, first + 3]);
      await until(advance, () => expect(found).to.have.length(3));
      expect(found).to.deep.equal([first, first + 2, first + 3]);
      expect(poll.takeNews().unpublished).to.deep.equal([
        [first, first],
        [first + 2, first + 3],
      ]);
      expect(poll.takeNews().unpublished).to.deep.equal([]);
      await until(advance, () => expect(poll.takeNews().polledUpTo).to.be.at.least(first + 3));
      await poll.stop();
    }));

  it('on duty delivers at once what it finds after a loss, and tells the others nevertheless', () =>
    inStoppedTime(async (advance) => {
      reports.isOnDuty = true;
      const { found, poll } = await started();
      await settle(advance);
      reports.isComplete = false;
      const id = await nextNumbers('notification');
      await store([id]);
      await until(advance, () => expect(found).to.deep.equal([id]));
      const told: unknown[] = [];
      await until(advance, () => {
        told.push(...poll.takeNews().unpublished);
        expect(told).to.deep.equal([[id, id]]);
      });
      await settle(advance);
      expect([found, poll.takeNews().unpublished]).to.deep.equal([[id], []]);
      await poll.stop();
    }));

  it('that takes the duty names what it has found by itself just before', () =>
    inStoppedTime(async (advance) => {
      const { found, poll } = await started();
      reports.isComplete = false;
      const [early, late] = [await nextNumbers('notification'), await nextNumbers('notification')];
      await store([early]);
      await until(advance, () => expect(found).to.deep.equal([early]));
      advance(10_000);
      await store([late]);
      await until(advance, () => expect(found).to.deep.equal([early, late]));
      expect(poll.takeNews().unpublished, 'not on duty').to.deep.equal([]);
      reports.isOnDuty = true;
      reports.isComplete = true;
      const told: unknown[] = [];
      await until(advance, () => {
        told.push(...poll.takeNews().unpublished);
        expect(told).to.deep.equal([[late, late]]);
      });
      await settle(advance);
      expect(poll.takeNews().unpublished, 'told once').to.deep.equal([]);
      await poll.stop();
    }));

  it('reads what is named: unpublished by the process on duty, or published for a member here and late', () =>
    inStoppedTime(async (advance) => {
      const { found, poll } = await started();
      const [lost, unpublished, pushed] = [
        await nextNumbers('notification'),
        await nextNumbers('notification'),
        await nextNumbers('notification'),
      ];
      await store([lost, unpublished, pushed]);
      await settle(advance);
      found.length = 0;
      lacking.add(lost).add(pushed);
      reports.tell({
        unpublished: [[unpublished, unpublished]],
        notifications: [lost, pushed, 1].map((id) => [id, MEMBER]),
      });
      await eventually(() => expect(found, 'at once').to.deep.equal([unpublished]));
      lacking.delete(pushed);
      await until(advance, () => expect(found).to.deep.equal([unpublished, lost]));
      await poll.stop();
    }));

  it('reads what is named again if the database does not answer', () =>
    inStoppedTime(async (advance) => {
      const { found, poll } = await started();
      await settle(advance);
      const id = await nextNumbers('notification');
      await store([id]);
      const { collection } = Notification;
      const aggregate = collection.aggregate.bind(collection);
      let failed = 0;
      const failing = mock.method(collection, 'aggregate', (...args: Parameters<typeof aggregate>) => {
        if (failed > 0) return aggregate(...args);
        failed += 1;
        throw new Error('the database is away');
      });
      reports.tell({ unpublished: [[id, id]] });
      await until(advance, () => expect(found).to.include(id));
      failing.mock.restore();
      expect(failed).to.equal(1);
      await poll.stop();
    }));
});
