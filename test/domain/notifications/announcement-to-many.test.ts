import { mock } from 'node:test';
import { expect } from 'chai';
import { noLive } from '../../../domain/kernel/live.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';
import { Deliverer } from '../../../domain/notifications/deliver.js';
import { MemoryDeliveryBus } from '../../../domain/notifications/delivery-bus.memory.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { MissedPoll } from '../../../domain/notifications/poll-missed.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { eventually } from '../../support/eventually.js';
import { storedNotification } from '../../support/notifications.js';
import { FakeReports } from '../../support/reports.js';
import { inStoppedTime } from '../../support/time.js';

/** Members, and so notifications: many pages of what is read at a time. */
const COUNT = 60_000;

/** Above all in the database. */
const FIRST = 1e9;

const { type, content, url, originNo, publishedAt, checked, deleted } = storedNotification({
  ...{ _id: 0, memberNo: 0, n: 1 },
});
const shared = { type, content, url, originNo, publishedAt, checked, deleted };

interface Stage {
  $match?: { _id?: { $gt?: number; $lte?: number; $in?: number[] } };
  $limit?: number;
}

/** The announcement as the database would answer (notification.model.ts): storing it would take most of a minute. */
function answer(count: number, stages: Stage[]) {
  const { $gt = 0, $lte = Number.POSITIVE_INFINITY, $in } = stages[0]?.$match?._id ?? { $lte: 0 };
  if ($in) return [{ _id: shared, ids: $in, members: $in, numbers: $in.map(() => 1) }];
  const from = Math.max(FIRST, $gt + 1);
  const to = Math.min(FIRST + count - 1, $lte, from + (stages.find(({ $limit }) => $limit)?.$limit ?? 0) - 1);
  return to < from ? [] : [{ ids: Array.from({ length: to - from + 1 }, (_, i) => from + i) }];
}

describe('an announcement to many members', () => {
  let reports: FakeReports;
  /** Notifications that are stored, from the first on. */
  let stored: number;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    reports = new FakeReports();
    stored = 0;
    const { collection } = Notification;
    mock.method(collection, 'find', () => ({ toArray: async () => [] }));
    mock.method(collection, 'aggregate', (stages: never) => ({
      toArray: async () => answer(stored, stages),
    }));
  });
  afterEach(() => {
    mock.restoreAll();
    mock.timers.reset();
  });

  /** A process that polls. */
  async function started() {
    /** How often each notification was shown to sockets. */
    const shown = new Map<number, number>();
    const logger = createLogger('silent', 'test');
    const deliverer = new Deliverer({
      bus: new MemoryDeliveryBus(),
      live: {
        ...noLive,
        notificationHere(_, { id }) {
          shown.set(id, (shown.get(id) ?? 0) + 1);
          return true;
        },
      },
      directory: { lookUp: async () => new Map() } as never,
      localTime: createLocalDateTime('UTC'),
      isReported: true,
      logger,
    });
    const poll = new MissedPoll({
      wasDelivered: (id) => deliverer.wasDelivered(id),
      lacks: () => false,
      deliver: (missed) => deliverer.deliverMissed(missed),
      ...{ logger, reports },
    });
    await poll.start();
    return { shown, poll };
  }

  for (const isOnDuty of [true, false]) {
    it(`reaches each socket once ${isOnDuty ? 'on duty' : 'in another process'}: polled while one is silent, then named`, () =>
      inStoppedTime(async (advance) => {
        reports.isOnDuty = isOnDuty;
        reports.isComplete = false;
        const { shown, poll } = await started();
        stored = COUNT;
        /** Ranges that the process on duty names. */
        const told: [number, number][] = [];
        const pass = () => {
          advance(1_000);
          mock.timers.tick(1_000);
          told.push(...poll.takeNews().unpublished);
        };
        await eventually(() => {
          pass();
          expect(shown.size).to.equal(COUNT);
        });
        if (isOnDuty)
          await eventually(() => {
            pass();
            expect(told.at(-1)?.[1]).to.equal(FIRST + COUNT - 1);
          });
        else reports.tell({ unpublished: [[FIRST, FIRST + COUNT - 1]] });
        // One more poll is through after it has read what was named.
        const last = FIRST + COUNT;
        stored += 1;
        await eventually(() => {
          pass();
          expect(shown.get(last)).to.equal(1);
        });
        await poll.stop();
        expect([...shown.values()].filter((times) => times > 1)).to.have.length(0);
      }));
  }
});
