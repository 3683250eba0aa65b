import { expect } from 'chai';
import mongoose from 'mongoose';
import { nextActivity, openDataClock } from '../../../../domain/platform/mongo/data-clock.js';
import { SCHEMA_COLLECTION, SCHEMA_ID } from '../../../../domain/platform/mongo/schema-version.js';
import { service } from '../../../support/service.js';

const YEAR_MS = 365 * 86_400_000;

interface Clock {
  _id: string;
  activity: number;
  generation: string;
}

const records = () => mongoose.connection.getClient().db().collection<Clock>(SCHEMA_COLLECTION);
const stored = async () => (await records().findOne({ _id: SCHEMA_ID })) as Clock;
const nobody = async () => 0;

describe('the clock of the data', () => {
  before(service);

  it('rises with each number, and goes on above what earlier processes may have handed out', async () => {
    const numbers = Array.from({ length: 1_000 }, nextActivity);
    expect(numbers).to.deep.equal([...new Set(numbers)].sort((a, b) => a - b));
    const ahead = Date.now() + YEAR_MS;
    await records().updateOne({ _id: SCHEMA_ID }, { $max: { activity: ahead } });
    await openDataClock(nobody);
    expect(nextActivity()).to.be.above(ahead + 2_000);
  });

  it('begins above all wall clocks by which data without a clock were written', async () => {
    const highest = Date.now() + 2 * YEAR_MS;
    await records().updateOne({ _id: SCHEMA_ID }, { $unset: { activity: 1, generation: 1 } });
    await openDataClock(async () => highest);
    const { activity, generation } = await stored();
    expect(activity).to.equal(highest);
    expect(generation).to.match(/^[0-9a-f-]{36}$/);
    expect(nextActivity()).to.be.above(highest);
    // It is not another copy for those that open it next.
    await openDataClock(nobody);
    expect(await stored()).to.include({ generation });
  });
});
