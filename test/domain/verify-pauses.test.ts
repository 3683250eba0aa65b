import { expect } from 'chai';
import mongoose from 'mongoose';
import { allChecks } from '../../domain/checks.js';
import { service } from '../support/service.js';

/** More than two pages of each. */
const RECORDS = 1_100;

const FIRST = 800_000_000;

/** The driver's cursor: its id is 0 once the database has closed it. */
interface Cursor {
  id?: { isZero(): boolean };
}

/** Keeps the cursors that models open. @returns them, and the end of it */
function keepCursors() {
  const cursors: Cursor[] = [];
  const collections = Object.values(mongoose.models).map(
    ({ collection }) => collection as unknown as { find?: (...args: unknown[]) => Cursor },
  );
  for (const collection of collections) {
    const find = collection.find?.bind(collection);
    collection.find = (...args) => {
      const cursor = find?.(...args) as Cursor;
      cursors.push(cursor);
      return cursor;
    };
  }
  return {
    cursors,
    restore() {
      // The replacements hide the methods of the prototype.
      for (const collection of collections) delete collection.find;
    },
  };
}

describe('a slow pass of verify', () => {
  const table = (name: string) => mongoose.connection.collection(name);
  const planted = { $gte: FIRST } as never;
  before(async () => {
    await service();
    const numbers = Array.from({ length: RECORDS }, (_, i) => FIRST + i);
    const position = { seq: 0, others: 0 };
    const read = { creator: position, joiner: position };
    await table('rooms').insertMany(
      numbers.map((no) => ({ _id: no as never, saleNo: no, creator: 1, joiner: 2, read })),
    );
    await table('messages').insertMany(
      numbers.map((no) => ({
        ...{ _id: `slow ${no}` as never, chatNo: no, seq: 1, senderNo: 1, read },
        sent: { creator: 1, joiner: 0 },
      })),
    );
    // A member whose numbers are more than a page. Below 0, the service does not deliver them.
    await table('notifications').insertMany(
      numbers.map((no, i) => ({ _id: -no as never, memberNo: FIRST, n: i + 1, cause: `slow ${no}` })),
    );
  });
  after(async () => {
    await table('rooms').deleteMany({ _id: planted });
    await table('messages').deleteMany({ chatNo: planted });
    await table('notifications').deleteMany({ memberNo: FIRST as never });
  });

  it('keeps no cursor open while it waits, as the database would end it', async () => {
    const { cursors, restore } = keepCursors();
    const open: Cursor[] = [];
    let [pauses, found] = [0, 0];
    try {
      for (const check of allChecks()) {
        const findings = check.run(() => {
          pauses += 1;
          open.push(...cursors.filter(({ id }) => id && !id.isZero()));
        });
        for await (const { kind } of findings) found += kind === 'sequence' ? 0 : 1;
      }
    } finally {
      restore();
    }
    expect(cursors).to.not.be.empty;
    expect(pauses).to.be.greaterThan(9);
    expect(open).to.have.length(0);
    expect(found).to.equal(0);
  });
});
