import { expect } from 'chai';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { type Member, member } from '../../support/api.js';
import { interceptCalls } from '../../support/database-calls.js';
import { writeElsewhere } from '../../support/notifications.js';
import { service } from '../../support/service.js';

/** A member's notifications, one an hour: none is within the minute by which clocks may differ. */
const COUNT = 2_000;
const FIRST_AT = Date.parse('2024-05-01T12:00:00Z');
const EVERY_MS = 3_600_000;

/** The last number, binary search, the one at that time, and the next. */
const MOST_READS = 1 + Math.ceil(Math.log2(COUNT)) + 2;

describe('the place from which a stream resumes, by a time', () => {
  let me: Member;
  before(async () => {
    me = await member();
    const notices = Array.from({ length: COUNT }, (_, i) => ({
      ...{ memberNo: me.no, n: i + 1, content: '' },
      publishedAt: new Date(FIRST_AT + EVERY_MS * i),
    }));
    await writeElsewhere(notices);
  });

  const times: [name: string, time: number, after: number][] = [
    ['before all', FIRST_AT - 1, 0],
    ['that of the first', FIRST_AT, 1],
    ['just before the second', FIRST_AT + EVERY_MS - 1, 1],
    ['just before the last', FIRST_AT + EVERY_MS * (COUNT - 1) - 1, COUNT - 1],
    ['that of the last', FIRST_AT + EVERY_MS * (COUNT - 1), COUNT],
    ['in the future', Date.now() + 86_400_000, COUNT],
  ];
  for (const [name, time, after] of times)
    it(`is found with few reads: ${name}`, async () => {
      const { domain } = await service();
      let read = 0;
      const stop = interceptCalls([Notification], (_model, _call, run) => {
        read += 1;
        return run();
      });
      const reads: number[] = [];
      // The poll of the service reads, too: the least of some look-ups is without it.
      for (let i = 0; i < 5; i += 1) {
        read = 0;
        expect(await domain.notifications.resumeAfter(me.no, [`${me.no}_${time}`])).to.equal(after);
        reads.push(read);
      }
      stop();
      expect(Math.min(...reads)).to.be.at.most(MOST_READS);
    });

  it('leaves nothing out where the clocks of two processes differ', async () => {
    const { domain } = await service();
    const { no } = await member();
    const seconds = [5, 2, 2, 4];
    await writeElsewhere(
      seconds.map((second, i) => ({
        ...{ memberNo: no, n: i + 1, content: '' },
        publishedAt: new Date(FIRST_AT + 1_000 * second),
      })),
    );
    const afterSecond = (second: number) =>
      domain.notifications.resumeAfter(no, [`${no}_${FIRST_AT + 1_000 * second}`]);
    expect([await afterSecond(3), await afterSecond(5), await afterSecond(1)]).to.deep.equal([0, 4, 0]);
  });

  it('is the beginning of nothing for a member without notifications', async () => {
    const { domain } = await service();
    const { no } = await member();
    expect(await domain.notifications.resumeAfter(no, [`${no}_${Date.now()}`])).to.equal(0);
  });
});
