import { expect } from 'chai';
import { databaseTime, estimatedDatabaseTime } from '../../../../domain/platform/mongo/database-time.js';
import { service } from '../../../support/service.js';
import { inStoppedTime } from '../../../support/time.js';

describe('the database’s time', () => {
  before(service);

  it('is carried on without asking, whatever the clock of the process shows', async () => {
    const { now } = Date;
    Date.now = () => now() + 3_600_000;
    try {
      await inStoppedTime(async (advance) => {
        const asked = await databaseTime();
        expect(estimatedDatabaseTime()).to.equal(asked.getTime());
        advance(5_000);
        expect(estimatedDatabaseTime()).to.equal(asked.getTime() + 5_000);
      });
    } finally {
      Date.now = now;
      // The estimate is by the stopped time.
      await databaseTime();
    }
  });
});
