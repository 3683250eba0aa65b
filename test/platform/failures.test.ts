import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { toAppError } from '../../domain/platform/failures.js';

describe('what a client is told of a failure', () => {
  it('a database without room is named as that, not as one that is away', () => {
    const full = toAppError(new MongoServerError({ code: 14_031, message: 'No space left on device' }));
    expect(full).to.deep.include({
      code: 'SERVICE_UNAVAILABLE',
      errors: ['the disk of the database is full'],
    });
    const away = toAppError(new MongoServerError({ code: 11_600, message: 'interrupted' }));
    expect(away).to.deep.include({ code: 'SERVICE_UNAVAILABLE', errors: ['the database does not answer'] });
  });
});
