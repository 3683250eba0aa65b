import { expect } from 'chai';
import type { AppError } from '../../domain/kernel/errors.js';
import { openDomain } from '../../domain/open-domain.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { nextTurn } from '../support/eventually.js';

describe('a domain that fails to open', () => {
  it('closes the connection to Redis first', async () => {
    let closed = false;
    const redis = {
      async close() {
        await nextTurn();
        closed = true;
      },
    } as RedisConnection;
    const opening = openDomain({ mongoUri: 'no address', redis } as Parameters<typeof openDomain>[0]);
    const failure = await opening.catch((error: Error) => error);
    expect(failure).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect(closed).to.equal(true);
  });

  it('names the servers of a database that does not answer, without the password', async () => {
    const mongoUri = 'mongodb://me:sec%2Fret@127.0.0.1:1,127.0.0.1:2/adoption';
    const opening = openDomain({ mongoUri } as Parameters<typeof openDomain>[0]);
    const { errors } = (await opening.catch((error) => error)) as AppError;
    expect(errors).to.deep.equal(['MONGODB_URI: the database at 127.0.0.1:1,127.0.0.1:2 does not answer']);
  });
});
