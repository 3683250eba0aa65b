import { mock } from 'node:test';
import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';

describe('requests to the gateway', () => {
  let lone: LoneGateway;
  afterEach(async () => {
    mock.restoreAll();
    mock.timers.reset();
    await stopGateways();
  });

  for (const engine of engineNames) {
    it(`that are not answered are closed in time, on ${engine}`, async () => {
      mock.timers.enable({ apis: ['setInterval'] });
      lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
      lone.probe = () => new Promise(() => {});
      const { ended, socket } = rawConnection(lone.base, rawGet('/readyz'));
      const answered = rawConnection(lone.base, rawGet('/healthz'));
      await answered.until(/true/);
      const now = performance.now.bind(performance);
      mock.method(performance, 'now', () => now() + 31_000);
      let isClosed = false;
      void ended.then(() => {
        isClosed = true;
      });
      await eventually(() => {
        mock.timers.tick(5_000);
        expect(isClosed).to.equal(true);
      });
      expect(answered.isEnded).to.equal(false);
      socket.destroy();
      answered.socket.destroy();
    });
  }
});
