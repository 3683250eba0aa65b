import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { Notification, type NotificationRecord } from '../../../domain/notifications/notification.model.js';
import { type NewNotification, Notifier } from '../../../domain/notifications/notifier.js';
import { nextNumbers } from '../../../domain/platform/mongo/sequence.model.js';
import { beforeInserts, insertSizes, interceptCalls, meanwhile } from '../../support/database-calls.js';
import { storedNotification } from '../../support/notifications.js';
import { service } from '../../support/service.js';

/** Members without a record: a notification needs only the number. */
let lastMember = 800_000_000;
const newMember = () => ++lastMember;

const notificationOf = (memberNo: number, cause: string): NewNotification => ({
  memberNo,
  type: 'note',
  content: cause,
  url: '/note/1',
  originNo: 0,
  cause,
});

/** The member's causes in order of their numbers, which have to be 1, 2, 3 …. */
async function causesOf(memberNo: number): Promise<string[]> {
  const records = await Notification.find({ memberNo }).sort({ n: 1 }).lean();
  expect(records.map(({ n }) => n)).to.deep.equal(records.map((_, i) => i + 1));
  return records.map(({ cause }) => cause);
}

/** Stores a notification as another process does. */
async function writeElsewhere(memberNo: number, n: number, cause: string): Promise<void> {
  const _id = await nextNumbers('notification');
  await Notification.create(storedNotification({ _id, memberNo, n, cause }));
}

describe('simultaneous notifications', () => {
  let delivered: NotificationRecord[];
  const notifier = new Notifier(systemClock, async (records) => {
    delivered.push(...records);
  });

  beforeEach(async () => {
    await service();
    delivered = [];
  });

  it('of one member share one insert, with consecutive numbers in order', async () => {
    const memberNo = newMember();
    const causes = Array.from({ length: 300 }, (_, i) => `cause ${i}`);
    const inserts = await insertSizes(Notification, async () => {
      const records = await Promise.all(
        causes.map((cause) => notifier.notify(notificationOf(memberNo, cause))),
      );
      expect(records.map((record) => record?.n)).to.deep.equal(causes.map((_, i) => i + 1));
    });
    expect(inserts).to.deep.equal([300]);
    expect(await causesOf(memberNo)).to.deep.equal(causes);
    expect(delivered.map(({ n }) => n)).to.deep.equal(causes.map((_, i) => i + 1));
  });

  it('leave no gap if another process takes a number or a cause among them', async () => {
    const [busy, other, single] = [newMember(), newMember(), newMember()];
    let turn = 0;
    await beforeInserts<NotificationRecord>(
      Notification,
      async (records) => {
        if (!records.some(({ memberNo }) => memberNo === busy)) return;
        turn += 1;
        if (turn === 1) await writeElsewhere(busy, 3, 'of another process');
        if (turn === 2) await writeElsewhere(busy, 4, 'c');
      },
      async () => {
        const results = await Promise.all([
          ...['a', 'b', 'c', 'd', 'e'].map((cause) => notifier.notify(notificationOf(busy, cause))),
          ...['a', 'b'].map((cause) => notifier.notify(notificationOf(other, cause))),
          notifier.notify(notificationOf(single, 'a')),
        ]);
        expect(results.map((record) => record?.n)).to.deep.equal([1, 2, undefined, 5, 6, 1, 2, 1]);
      },
    );
    expect(await causesOf(busy)).to.deep.equal(['a', 'b', 'of another process', 'c', 'd', 'e']);
    expect(await causesOf(other)).to.deep.equal(['a', 'b']);
    expect(await causesOf(single)).to.deep.equal(['a']);
    const mine = delivered.filter(({ memberNo }) => memberNo === busy).map(({ n }) => n);
    expect(mine, 'delivered in order, each once').to.deep.equal([1, 2, 5, 6]);
  });

  it('with one cause notify once', async () => {
    const memberNo = newMember();
    const results = await Promise.all(
      ['a', 'a', 'b', 'a', 'b', 'c'].map((cause) => notifier.notify(notificationOf(memberNo, cause))),
    );
    expect(results.map((record) => record?.n)).to.deep.equal([1, undefined, 2, undefined, undefined, 3]);
    expect(await causesOf(memberNo)).to.deep.equal(['a', 'b', 'c']);
  });

  it('of several processes are numbered without gaps', async () => {
    const memberNo = newMember();
    const notifiers = [1, 2, 3].map(() => new Notifier(systemClock, async () => {}));
    await Promise.all(
      notifiers.flatMap((one, i) =>
        Array.from({ length: 100 }, (_, k) => one.notify(notificationOf(memberNo, `${i} ${k}`))),
      ),
    );
    expect(await causesOf(memberNo)).to.have.length(300);
  });

  it('to many members take one query for their last numbers', async () => {
    const memberNos = Array.from({ length: 50 }, newMember);
    const queries: string[] = [];
    const stop = interceptCalls([Notification], (_, call, run) => {
      queries.push(call);
      return run();
    });
    try {
      await Promise.all(memberNos.map((memberNo) => notifier.notify(notificationOf(memberNo, 'own'))));
    } finally {
      stop();
    }
    expect(queries).to.deep.equal(['aggregate', 'insertMany']);
  });

  it('are stored at most a thousand at a time, in order', async () => {
    const memberNo = newMember();
    const causes = Array.from({ length: 1_001 }, (_, i) => `cause ${i}`);
    const inserts = await insertSizes(Notification, async () => {
      await Promise.all(causes.map((cause) => notifier.notify(notificationOf(memberNo, cause))));
    });
    expect(inserts).to.deep.equal([1_000, 1]);
    expect(delivered.map(({ cause }) => cause)).to.deep.equal(causes);
  });

  it('are retried before later ones if refused', async () => {
    const memberNo = newMember();
    await notifier.notify(notificationOf(memberNo, 'a'));
    let later: Promise<unknown> | undefined;
    await beforeInserts<NotificationRecord>(
      Notification,
      async () => {
        if (later) return;
        later = notifier.notify(notificationOf(memberNo, 'c'));
        await writeElsewhere(memberNo, 2, 'of another process');
      },
      async () => {
        await notifier.notify(notificationOf(memberNo, 'b'));
        await later;
      },
    );
    expect(await causesOf(memberNo)).to.deep.equal(['a', 'of another process', 'b', 'c']);
  });

  it('resolve without a refused one of their batch, which is retried with newcomers', async () => {
    const [refused, stored, newcomer] = [newMember(), newMember(), newMember()];
    const settled: number[] = [];
    const inserts: { of: number[]; after: number[] }[] = [];
    const notify = (no: number) => notifier.notify(notificationOf(no, 'own')).then(() => settled.push(no));
    await beforeInserts<NotificationRecord>(
      Notification,
      async (records) => {
        inserts.push({ of: records.map(({ memberNo }) => memberNo), after: [...settled] });
        if (inserts.length === 1) void notify(newcomer);
        if (inserts.length < 3) await writeElsewhere(refused, inserts.length, `other ${inserts.length}`);
      },
      async () => void (await Promise.all([notify(refused), notify(stored)])),
    );
    expect(inserts).to.deep.equal([
      { of: [refused, stored], after: [] },
      { of: [refused, newcomer], after: [stored] },
      { of: [refused], after: [stored, newcomer] },
    ]);
    expect(await causesOf(refused)).to.deep.equal(['other 1', 'other 2', 'own']);
  });
});

describe('a single notification', () => {
  const notifier = new Notifier({ now: () => 1_700_000_000_123 }, async () => {});
  beforeEach(() => service());

  it('is stored before `notify` resolves, and before the process stops', async () => {
    const memberNo = newMember();
    const results = notifier.notify({ ...notificationOf(memberNo, 'a'), chatNo: 7, originNo: 5 });
    await notifier.idle();
    const stored = await Notification.findOne({ memberNo }).lean();
    expect(stored).to.deep.equal(await results);
    const publishedAt = new Date(1_700_000_000_123);
    const added = { n: 1, originNo: 5, chatNo: 7, publishedAt, checked: false, deleted: false };
    expect(stored).to.deep.include({ ...notificationOf(memberNo, 'a'), ...added });
  });

  for (const [what, content, shown] of [
    ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['201 characters', 'x'.repeat(201), `${'x'.repeat(199)}…`],
    ['200 characters with two emoji', `${'x'.repeat(198)}🐶🐶`, `${'x'.repeat(198)}🐶🐶`],
    ['an emoji before the cut', `${'x'.repeat(198)}🐶🐶🐶`, `${'x'.repeat(198)}🐶…`],
    ['an emoji of several characters at the cut', `${'x'.repeat(198)}👩‍👧`, `${'x'.repeat(198)}…`],
    ['twenty thousand characters', '고양이'.repeat(7_000), `${'고양이'.repeat(66)}고…`],
  ] as const) {
    it(`of ${what} is cut to whole characters`, async () => {
      const record = await notifier.notify({ ...notificationOf(newMember(), 'long'), content });
      expect(record?.content).to.equal(shown);
    });
  }
});

describe('notifications on a failing database', () => {
  let delivered: NotificationRecord[];
  const notifier = new Notifier(systemClock, async (records) => {
    delivered.push(...records);
  });
  const failure = new Error('the connection was lost');

  beforeEach(async () => {
    await service();
    delivered = [];
  });

  /** Outcomes: the number, undefined for a known cause, or the error. */
  const outcomes = async (notifications: NewNotification[]) =>
    (await Promise.allSettled(notifications.map((notification) => notifier.notify(notification)))).map(
      (outcome) => (outcome.status === 'fulfilled' ? outcome.value?.n : outcome.reason),
    );

  /** Runs a task in which the next read of records fails. */
  const failing = (task: () => Promise<void>) =>
    meanwhile(
      'before',
      [Notification, 'find'],
      () => {
        throw failure;
      },
      task,
    );

  for (const [what, count] of [
    ['a single one', 1],
    ['several', 3],
  ] as const) {
    it(`of a member, ${what}, fail, and leave no gap whether they are stored or not`, async () => {
      for (const isStored of [false, true]) {
        const memberNo = newMember();
        const notifications = (kind: string) =>
          Array.from({ length: count }, (_, i) => notificationOf(memberNo, `${kind} ${i}`));
        expect((await outcomes([notificationOf(memberNo, 'first')]))[0]).to.equal(1);
        delivered = [];
        await beforeInserts<NotificationRecord>(
          Notification,
          async (records) => {
            if (isStored) await Notification.create(records);
            throw failure;
          },
          async () => {
            expect(await outcomes(notifications('lost'))).to.deep.equal(Array(count).fill(failure));
          },
        );
        expect(delivered, 'only what is known to be stored').to.deep.equal([]);
        const next = isStored ? count + 2 : 2;
        expect(await outcomes(notifications('next'))).to.deep.equal(
          Array.from({ length: count }, (_, i) => next + i),
        );
        expect(await causesOf(memberNo)).to.have.length(next + count - 1);
      }
    });
  }

  it('fail separately from those stored before the failure', async () => {
    const [refused, lost] = [newMember(), newMember()];
    let turn = 0;
    await beforeInserts<NotificationRecord>(
      Notification,
      async () => {
        turn += 1;
        if (turn === 1) await writeElsewhere(refused, 2, 'of another process');
        if (turn === 2) throw failure;
      },
      async () => {
        const notifications = [refused, lost].flatMap((no) =>
          ['a', 'b'].map((cause) => notificationOf(no, cause)),
        );
        expect(await outcomes(notifications)).to.deep.equal([1, 3, failure, failure]);
      },
    );
    expect(await causesOf(refused)).to.deep.equal(['a', 'of another process', 'b']);
    expect(await causesOf(lost)).to.deep.equal([]);
  });

  it('fail if a read before or after the insert fails, without harm to later ones', async () => {
    const memberNo = newMember();
    await failing(async () => {
      expect(await outcomes([notificationOf(memberNo, 'a')])).to.deep.equal([failure]);
    });
    expect(await outcomes([notificationOf(memberNo, 'a')])).to.deep.equal([1]);
    await failing(async () => {
      expect(await outcomes([notificationOf(memberNo, 'a')])).to.deep.equal([failure]);
    });
    expect(await outcomes([notificationOf(memberNo, 'a'), notificationOf(memberNo, 'b')])).to.deep.equal([
      undefined,
      2,
    ]);
  });
});
