import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { Notification, type NotificationRecord } from '../../../domain/notifications/notification.model.js';
import { createNotifier, type NewNotification } from '../../../domain/notifications/notifier.js';
import { nextNumbers } from '../../../domain/platform/sequence.model.js';
import { beforeInserts } from '../../support/database-calls.js';
import { service } from '../../support/service.js';

/** Members of no account: a notification needs no more than their number. */
let lastMember = 800_000_000;
const newMember = () => ++lastMember;

const noticeOf = (memberNo: number, cause: string): NewNotification => ({
  ...{ memberNo, cause, content: cause },
  ...{ type: 'note', url: '/note/1', originNo: 0 },
});

/** The member's causes in the order of their numbers, once those are 1, 2, 3 …. */
async function causesOf(memberNo: number): Promise<string[]> {
  const records = await Notification.find({ memberNo }).sort({ n: 1 }).lean();
  expect(records.map(({ n }) => n)).to.deep.equal(records.map((_, i) => i + 1));
  return records.map(({ cause }) => cause);
}

/** A notification that another process writes. */
async function writeElsewhere(memberNo: number, n: number, cause: string): Promise<void> {
  await Notification.create({
    ...{ _id: await nextNumbers('notification'), memberNo, n, cause, content: cause },
    ...{ type: 'note', url: '/note/1', originNo: 0, publishedAt: new Date(), checked: false, deleted: false },
  });
}

describe('notices at the same moment', () => {
  let delivered: NotificationRecord[];
  const notifier = createNotifier(systemClock, async (records) => {
    delivered.push(...records);
  });

  beforeEach(async () => {
    await service();
    delivered = [];
  });

  it('of one member go in one insert, with consecutive numbers in the order they came', async () => {
    const memberNo = newMember();
    const causes = Array.from({ length: 300 }, (_, i) => `cause ${i}`);
    const inserts: number[] = [];
    await beforeInserts<NotificationRecord>(
      Notification,
      ({ length }) => {
        inserts.push(length);
      },
      async () => {
        const records = await Promise.all(causes.map((cause) => notifier.notify(noticeOf(memberNo, cause))));
        expect(records.map((record) => record?.n)).to.deep.equal(causes.map((_, i) => i + 1));
      },
    );
    expect(inserts).to.deep.equal([300]);
    expect(await causesOf(memberNo)).to.deep.equal(causes);
    expect(delivered.map(({ n }) => n)).to.deep.equal(causes.map((_, i) => i + 1));
  });

  it('leave no hole where another process takes a number or a cause in their middle', async () => {
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
        const told = await Promise.all([
          ...['a', 'b', 'c', 'd', 'e'].map((cause) => notifier.notify(noticeOf(busy, cause))),
          ...['a', 'b'].map((cause) => notifier.notify(noticeOf(other, cause))),
          notifier.notify(noticeOf(single, 'a')),
        ]);
        expect(told.map((record) => record?.n)).to.deep.equal([1, 2, undefined, 5, 6, 1, 2, 1]);
      },
    );
    expect(await causesOf(busy)).to.deep.equal(['a', 'b', 'of another process', 'c', 'd', 'e']);
    expect(await causesOf(other)).to.deep.equal(['a', 'b']);
    expect(await causesOf(single)).to.deep.equal(['a']);
    const mine = delivered.filter(({ memberNo }) => memberNo === busy).map(({ n }) => n);
    expect(mine, 'delivered in order, each once').to.deep.equal([1, 2, 5, 6]);
  });

  it('of one cause notify once, also within one moment', async () => {
    const memberNo = newMember();
    const told = await Promise.all(
      ['a', 'a', 'b', 'a', 'b', 'c'].map((cause) => notifier.notify(noticeOf(memberNo, cause))),
    );
    expect(told.map((record) => record?.n)).to.deep.equal([1, undefined, 2, undefined, undefined, 3]);
    expect(await causesOf(memberNo)).to.deep.equal(['a', 'b', 'c']);
  });

  it('of several processes number a member’s notifications without holes', async () => {
    const memberNo = newMember();
    const notifiers = [1, 2, 3].map(() => createNotifier(systemClock, async () => {}));
    await Promise.all(
      notifiers.flatMap(({ notify }, i) =>
        Array.from({ length: 100 }, (_, k) => notify(noticeOf(memberNo, `${i} ${k}`))),
      ),
    );
    expect(await causesOf(memberNo)).to.have.length(300);
  });

  it('go at most a thousand at a time, in the order they came', async () => {
    const memberNo = newMember();
    const causes = Array.from({ length: 1_001 }, (_, i) => `cause ${i}`);
    const inserts: number[] = [];
    await beforeInserts<NotificationRecord>(
      Notification,
      ({ length }) => {
        inserts.push(length);
      },
      async () => {
        await Promise.all(causes.map((cause) => notifier.notify(noticeOf(memberNo, cause))));
      },
    );
    expect(inserts).to.deep.equal([1_000, 1]);
    expect(delivered.map(({ cause }) => cause)).to.deep.equal(causes);
  });

  it('of which one was refused go before those that came meanwhile', async () => {
    const memberNo = newMember();
    await notifier.notify(noticeOf(memberNo, 'a'));
    let later: Promise<unknown> | undefined;
    await beforeInserts<NotificationRecord>(
      Notification,
      async () => {
        if (later) return;
        later = notifier.notify(noticeOf(memberNo, 'c'));
        await writeElsewhere(memberNo, 2, 'of another process');
      },
      async () => {
        await notifier.notify(noticeOf(memberNo, 'b'));
        await later;
      },
    );
    expect(await causesOf(memberNo)).to.deep.equal(['a', 'of another process', 'b', 'c']);
  });
});

describe('a notice', () => {
  const notifier = createNotifier({ now: () => 1_700_000_000_123 }, async () => {});
  beforeEach(() => service());

  it('is stored before its sender is answered, and before the process stops', async () => {
    const memberNo = newMember();
    const told = notifier.notify({ ...noticeOf(memberNo, 'a'), chatNo: 7, originNo: 5 });
    await notifier.idle();
    const stored = await Notification.findOne({ memberNo }).lean();
    expect(stored).to.deep.equal(await told);
    expect(stored).to.deep.include({
      ...{ memberNo, n: 1, type: 'note', content: 'a', url: '/note/1', originNo: 5, cause: 'a', chatNo: 7 },
      ...{ publishedAt: new Date(1_700_000_000_123), checked: false, deleted: false },
    });
  });

  for (const [what, content, shown] of [
    ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['201 characters', 'x'.repeat(201), `${'x'.repeat(199)}…`],
    ['an emoji at the cut', `${'x'.repeat(198)}🐶🐶`, `${'x'.repeat(198)}…`],
    ['an emoji before the cut', `${'x'.repeat(197)}🐶🐶`, `${'x'.repeat(197)}🐶…`],
    ['twenty thousand characters', '고양이'.repeat(7_000), `${'고양이'.repeat(66)}고…`],
  ] as const) {
    it(`of ${what} shows no more than its beginning, in whole characters`, async () => {
      const record = await notifier.notify({ ...noticeOf(newMember(), 'long'), content });
      expect(record?.content).to.equal(shown);
    });
  }
});

describe('notices that meet a failing database', () => {
  let delivered: NotificationRecord[];
  const notifier = createNotifier(systemClock, async (records) => {
    delivered.push(...records);
  });
  const failure = new Error('the connection was lost');

  beforeEach(async () => {
    await service();
    delivered = [];
  });

  /** What became of notices: their numbers, nothing where their cause was known, or why they failed. */
  const outcomes = async (notices: NewNotification[]) =>
    (await Promise.allSettled(notices.map((notice) => notifier.notify(notice)))).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value?.n : outcome.reason,
    );

  /** Runs a task in which one method of the collection's model fails once. */
  async function failing(method: 'find' | 'findOne', task: () => Promise<void>): Promise<void> {
    const original = Notification[method];
    Notification[method] = (() => {
      Notification[method] = original as never;
      throw failure;
    }) as never;
    try {
      await task();
    } finally {
      Notification[method] = original as never;
    }
  }

  for (const [what, count] of [
    ['a single one', 1],
    ['several', 3],
  ] as const) {
    it(`of a member, ${what}, are told to have failed, and leave no hole whether they are stored or not`, async () => {
      for (const isStored of [false, true]) {
        const memberNo = newMember();
        const notices = (kind: string) =>
          Array.from({ length: count }, (_, i) => noticeOf(memberNo, `${kind} ${i}`));
        expect((await outcomes([noticeOf(memberNo, 'first')]))[0]).to.equal(1);
        delivered = [];
        await beforeInserts<NotificationRecord>(
          Notification,
          async (records) => {
            if (isStored) await Notification.create(records);
            throw failure;
          },
          async () => {
            expect(await outcomes(notices('lost'))).to.deep.equal(Array(count).fill(failure));
          },
        );
        expect(delivered, 'what nobody was told is stored').to.deep.equal([]);
        const next = isStored ? count + 2 : 2;
        expect(await outcomes(notices('next'))).to.deep.equal(
          Array.from({ length: count }, (_, i) => next + i),
        );
        expect(await causesOf(memberNo)).to.have.length(next + count - 1);
      }
    });
  }

  it('are told apart from those that were written before it failed', async () => {
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
        const notices = [refused, lost].flatMap((no) => ['a', 'b'].map((cause) => noticeOf(no, cause)));
        expect(await outcomes(notices)).to.deep.equal([1, 3, failure, failure]);
      },
    );
    expect(await causesOf(refused)).to.deep.equal(['a', 'of another process', 'b']);
    expect(await causesOf(lost)).to.deep.equal([]);
  });

  it('before they are written, or when it is asked why they were refused, are told, and the next ones go on', async () => {
    const memberNo = newMember();
    await failing('findOne', async () => {
      expect(await outcomes([noticeOf(memberNo, 'a')])).to.deep.equal([failure]);
    });
    expect(await outcomes([noticeOf(memberNo, 'a')])).to.deep.equal([1]);
    await failing('find', async () => {
      expect(await outcomes([noticeOf(memberNo, 'a')])).to.deep.equal([failure]);
    });
    expect(await outcomes([noticeOf(memberNo, 'a'), noticeOf(memberNo, 'b')])).to.deep.equal([undefined, 2]);
  });
});
