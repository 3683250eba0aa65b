import { expect } from 'chai';
import fc from 'fast-check';
import { createRecount } from '../../domain/community/recount.js';
import { everySchedule } from './every-schedule.js';

const seldom = fc.constantFrom(false, false, false, false, true);

/** A member's heart that is given or taken away, by one of two processes, which may end before it has counted. */
const changes = fc.array(
  fc.record({ heart: fc.nat(3), gives: fc.boolean(), process: fc.nat(1), ends: seldom }),
  { minLength: 1, maxLength: 6 },
);

describe('stored counts', () => {
  everySchedule(
    'equal their records once every change is counted, by whichever process',
    fc.record({ changes, deleted: seldom }),
    (program, step) => {
      const hearts = new Set<number>();
      const stored = { state: 'live', hearts: 0, heartsVersion: 0 };
      const faults: string[] = [];
      /** Each change of the records, by what they were then. */
      const history = [0];
      const model = {
        findOne: () => ({
          async lean() {
            await step('read');
            const read = stored.state === 'live' ? { ...stored } : null;
            await step('read is answered');
            return read;
          },
        }),
        async updateOne({ heartsVersion }: { heartsVersion?: number }, change: object) {
          await step('store');
          const matches = heartsVersion === undefined || heartsVersion === stored.heartsVersion;
          if (matches) Object.assign(stored, (change as { $set: object }).$set);
          await step('store is answered');
          return { matchedCount: matches ? 1 : 0 };
        },
      };
      const processes = Array.from({ length: 3 }, () =>
        createRecount({
          model: model as never,
          filter: { state: 'live' },
          version: 'heartsVersion',
          async count() {
            await step('count');
            const { size } = hearts;
            await step('count is answered');
            return size;
          },
          fields: (count) => ({ hearts: count }),
        }),
      );

      async function change({
        heart,
        gives,
        process,
        ends,
      }: (typeof program.changes)[number]): Promise<void> {
        await step('change');
        if (gives) hearts.add(heart);
        else hearts.delete(heart);
        history.push(hearts.size);
        const since = history.length - 1;
        if (ends) return;
        const counted = await processes[process]?.(1);
        if (counted !== undefined && !history.slice(since).includes(counted))
          faults.push(`counted ${counted}, but since the change there were ${history.slice(since)}`);
      }

      /** As finishArticleDeletion: the records go first, then the version rises. */
      async function remove(): Promise<void> {
        await step('delete');
        stored.state = 'deleted';
        await step('remove records');
        hearts.clear();
        history.push(0);
        await step('raise the version');
        stored.hearts = 0;
        stored.heartsVersion += 1;
      }

      const all = Promise.all([...program.changes.map(change), ...(program.deleted ? [remove()] : [])]);
      // What ended is left to the sweep; without it, the calls themselves must have counted everything.
      if (program.changes.some(({ ends }) => ends)) void all.then(() => processes[2]?.(1));
      return () => {
        expect(faults).to.deep.equal([]);
        if (program.deleted) expect(stored.hearts, 'of what is deleted').to.equal(0);
        else expect(stored.hearts).to.equal(hearts.size);
      };
    },
  );
});
