import { expect } from 'chai';
import type { AppError } from '../../domain/kernel/errors.js';
import type { Live } from '../../domain/kernel/live.js';
import { openDomain } from '../../domain/open-domain.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { Shutdown } from '../../domain/platform/process/shutdown.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { nextTurn } from '../support/eventually.js';
import { openDatabase } from '../support/service.js';

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

  it('is closed, with what it has started, if a port is taken', async () => {
    const database = await openDatabase(`adoption_failing_${process.pid}`);
    const env = { NODE_ENV: 'test', JWT_SECRET: 'a secret of a domain that does not open' };
    const logger = createLogger('silent', 'test');
    let closed = false;
    const opening = openDomain({
      ...{ config: loadConfig(env, '/nonexistent'), logger, live: {} as Live, mongoUri: database.uri },
      ...{ shutdown: new Shutdown(logger, 1_000), verifies: false, bringing: 'finish' },
      async prepare(domain) {
        const { close } = domain;
        domain.close = async () => {
          await close();
          closed = true;
        };
        throw new Error('a port is taken');
      },
    });
    expect(await opening.catch((error) => error.message)).to.equal('a port is taken');
    expect(closed).to.equal(true);
    await database.close();
  });

  it('names the servers of a database that does not answer, without the password', async () => {
    const mongoUri = 'mongodb://me:sec%2Fret@127.0.0.1:1,127.0.0.1:2/adoption';
    const opening = openDomain({ mongoUri } as Parameters<typeof openDomain>[0]);
    const { errors } = (await opening.catch((error) => error)) as AppError;
    expect(errors).to.deep.equal(['MONGODB_URI: the database at 127.0.0.1:1,127.0.0.1:2 does not answer']);
  });
});
