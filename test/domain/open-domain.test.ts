import { expect } from 'chai';
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
});
