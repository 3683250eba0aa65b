import { mock } from 'node:test';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';

/** Time for a connection to authenticate, ms. (PROTOCOL.md, connecting) */
const CONNECT_TIMEOUT_MS = 30_000;

describe('a connection that waits for its token', () => {
  let lone: LoneGateway;
  let waiting: RawSocket;

  beforeEach(async () => {
    lone = await startGateway();
    mock.timers.enable({ apis: ['setTimeout'] });
    waiting = await rawSocket(lone.base);
    await waiting.next(/^0/);
  });
  afterEach(async () => {
    mock.timers.reset();
    waiting.socket.destroy();
    await stopGateways();
  });

  /** Answers the ping that comes after 20 s. */
  async function wait(ms: number): Promise<void> {
    mock.timers.tick(20_000);
    await waiting.next(/^2$/);
    waiting.send('3');
    // The answer has arrived when Engine.IO plans the next ping.
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(1));
    mock.timers.tick(ms - 20_000);
  }

  it('may take half a minute: a phone fetches it over a slow line', async () => {
    await wait(CONNECT_TIMEOUT_MS - 1_000);
    waiting.send('40{"token":"member-7"}');
    await waiting.next(/^40\{"sid"/);
  });

  it('5: and never gets it is closed after thirty seconds', async () => {
    await wait(CONNECT_TIMEOUT_MS);
    await waiting.closed;
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(0));
  });
});
