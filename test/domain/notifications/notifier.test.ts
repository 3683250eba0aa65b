import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { Notification, type NotificationRecord } from '../../../domain/notifications/notification.model.js';
import { createNotifier, type Notice } from '../../../domain/notifications/notifier.js';
import { nextNumbers } from '../../../domain/platform/sequence.model.js';
import { beforeInserts } from '../../support/inserts.js';
import { service } from '../../support/service.js';

/** Members of no account: a notification needs no more than their number. */
let lastMember = 800_000_000;
const newMember = () => ++lastMember;

const noticeOf = (memberNo: number, cause: string): Notice => ({
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
});
