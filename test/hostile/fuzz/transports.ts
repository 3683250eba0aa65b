import { expect } from 'chai';
import fc from 'fast-check';
import type { EngineName } from '../../../gateway/engine/engine.js';
import { WAIT_MS } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/service-process.js';
import { connect } from '../../support/sockets.js';
import { type Door, MEASURED } from './door.js';
import { SECRET } from './tokens.js';
import { type Model, steps } from './transport-steps.js';
import { Transports } from './transports-under-test.js';

/**
 * The transports of Engine.IO as a state machine: polls, posts, upgrades, probes, half requests and ends of connections
 * in any order, several connections on one session. Whatever came before, each whole request is answered or its
 * connection closed, and no connection is kept after its client has gone.
 */
export const transports = (engine: EngineName): Door<Iterable<fc.AsyncCommand<Model, Transports>>> => ({
  name: `transports-${engine}`,
  cases: 40,
  input: steps,
  async open() {
    const settings = { GATEWAY_ENGINE: engine, TRUST_PROXY: '1', JWT_SECRET: SECRET };
    const service = await startServiceProcess({ ...settings, ...MEASURED });
    const token = await service.token('asker@example.org');
    let sources = 0;
    return {
      processes: [service.process],
      async send(commands) {
        // Each from an address of its own: connects of one are limited.
        sources += 1;
        const source = `10.${sources >> 16}.${(sources >> 8) & 255}.${sources & 255}`;
        const real = new Transports(service.gateway, source, token);
        try {
          await fc.asyncModelRun(() => ({ model: { sessions: 0 }, real }), commands);
          await real.finish();
        } finally {
          real.destroy();
        }
        await real.expectNoneHeld();
      },
      async check() {
        const client = await connect({ token }, {}, service.gateway);
        expect(await client.ask('room:join', { chatNo: 1 })).to.include({ status: 404 });
        client.socket.disconnect();
        const { status } = await fetch(`${service.http}/healthz`, { signal: AbortSignal.timeout(WAIT_MS) });
        expect(status).to.equal(200);
      },
      close: async () => void (await service.stop()),
    };
  },
});
