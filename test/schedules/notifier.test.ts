import { expect } from 'chai';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { Notification, type NotificationRecord } from '../../domain/notifications/notification.model.js';
import { type NewNotification, Notifier } from '../../domain/notifications/notifier.js';
import { everySchedule } from './every-schedule.js';
import { FakeCollection, type InsertFate, query, replace } from './fake-collection.js';

/** Causes that notify members through two processes. What fails is published again, as by a sweep. */
const program = fc.record({
  notices: fc.array(
    fc.record({ process: fc.nat(1), memberNo: fc.integer({ min: 1, max: 2 }), cause: fc.nat(4) }),
    { minLength: 1, maxLength: 6 },
  ),
  fates: fc.array(fc.constantFrom<InsertFate>('succeeds', 'fails before', 'fails after'), { maxLength: 4 }),
});

type Notice = { process: number; memberNo: number; cause: number };

const noticeOf = (memberNo: number, cause: string): NewNotification => ({
  ...{ memberNo, cause, type: 'note', content: 'hello', url: '/note/1', originNo: 0 },
});

describe('the notifier', () => {
  everySchedule(
    'notifies of each cause once, numbers without gaps, and delivers in order',
    program,
    ({ notices, fates }, step) => {
      const stored = new FakeCollection<NotificationRecord>(
        step,
        ({ _id, memberNo, n, cause }) => [`id ${_id}`, `${memberNo} n ${n}`, `${memberNo} cause ${cause}`],
        fates,
      );
      const lastOf = (memberNo: number) =>
        Math.max(0, ...stored.records.filter((one) => one.memberNo === memberNo).map(({ n }) => n));
      let lastId = 0;
      const ends = [
        replace(Notification.collection, {
          insertMany: stored.insertMany,
          aggregate: ([{ $match }]: [{ $match: { memberNo: { $in: number[] } } }]) => ({
            async toArray() {
              await step('look-up of last numbers');
              const last = $match.memberNo.$in.map((memberNo) => ({
                memberNo,
                last: [{ n: lastOf(memberNo) }],
              }));
              await step('last numbers are answered');
              return last;
            },
          }),
          find: ({ memberNo }: { memberNo: number }) => ({
            async toArray() {
              await step('look-up of the last number');
              const last = lastOf(memberNo);
              await step('last number is answered');
              return last > 0 ? [{ n: last }] : [];
            },
          }),
        }),
        replace(Notification, {
          find: ({ memberNo, cause }: { memberNo: number; cause: { $in: string[] } }) =>
            query(async () => {
              await step('look-up of causes');
              return stored.records.filter(
                (one) => one.memberNo === memberNo && cause.$in.includes(one.cause),
              );
            }),
        }),
        replace(mongoose.model('Sequence'), {
          findOneAndUpdate: (_: object, { $inc }: { $inc: { value: number } }) =>
            query(async () => {
              await step('next numbers');
              lastId += $inc.value;
              return { value: lastId };
            }),
        }),
      ];
      const faults: string[] = [];
      /** By process: what it has delivered. */
      const delivered: NotificationRecord[][] = [[], []];
      const isStored = ({ _id, n }: NotificationRecord) =>
        stored.records.some((one) => one._id === _id && one.n === n);
      const notifiers = delivered.map(
        (own) =>
          new Notifier({ now: () => 0 }, async (records) => {
            for (const record of records) {
              if (!isStored(record)) faults.push(`${record.cause} is delivered, but not stored`);
              own.push(record);
            }
          }),
      );
      let left = notices.length;

      function check({ memberNo, cause }: Notice, record: NotificationRecord | undefined): void {
        const is = stored.records.filter((one) => one.memberNo === memberNo && one.cause === `${cause}`);
        if (is.length !== 1) faults.push(`${cause} is acknowledged, and stored ${is.length} times`);
        if (record && !isStored(record)) faults.push(`${cause} has another number than answered`);
      }

      async function publish(notice: Notice, attempt = 0): Promise<void> {
        await step(`publish ${notice.cause}`);
        const notifier = notifiers[(notice.process + attempt) % 2] as Notifier;
        let record: NotificationRecord | undefined;
        try {
          record = await notifier.notify(noticeOf(notice.memberNo, `${notice.cause}`));
        } catch {
          return publish(notice, attempt + 1);
        }
        check(notice, record);
        left -= 1;
      }

      for (const notice of notices) void publish(notice);
      return () => {
        for (const end of ends) end();
        expect(left, 'unanswered').to.equal(0);
        expect(faults).to.deep.equal([]);
        for (const memberNo of [1, 2]) {
          const own = stored.records.filter((one) => one.memberNo === memberNo);
          const numbers = own.map(({ n }) => n).sort((a, b) => a - b);
          expect(numbers).to.deep.equal(numbers.map((_, i) => i + 1));
          const causes = notices.filter((one) => one.memberNo === memberNo).map(({ cause }) => `${cause}`);
          expect(own.map(({ cause }) => cause).sort()).to.deep.equal([...new Set(causes)].sort());
          for (const here of delivered) {
            const seen = here.filter((one) => one.memberNo === memberNo).map(({ n }) => n);
            expect(seen, 'delivered in order').to.deep.equal([...new Set(seen)].sort((a, b) => a - b));
          }
        }
      };
    },
  );
});
