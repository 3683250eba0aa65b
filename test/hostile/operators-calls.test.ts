import { mock } from 'node:test';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { register } from 'prom-client';
import { createOperations } from '../../domain/platform/process/operations.js';
import { eventually } from '../support/eventually.js';
import { service } from '../support/service.js';

/** How long an answer is kept, ms. */
const KEPT_MS = 1_000;

describe('calls of operators', () => {
  afterEach(() => mock.restoreAll());

  /** Asks both ports at once. @returns the different answers */
  async function askOften(path: string): Promise<Set<string>> {
    const { http, gateway } = await service();
    const answers = Array.from({ length: 100 }, async (_, i) => {
      const answer = await fetch(`${i % 2 === 0 ? http : gateway}${path}`);
      return `${answer.status} ${await answer.text()}`;
    });
    return new Set(await Promise.all(answers));
  }

  /** How often an answer may be computed while this lasts. */
  async function mostRuns(asking: Promise<unknown>): Promise<number> {
    const since = performance.now();
    await asking;
    return 1 + Math.ceil((performance.now() - since) / KEPT_MS);
  }

  it('ask the database once a second, however often /readyz is called', async () => {
    await service();
    const db = mongoose.connection.getClient().db();
    const command = mock.method(Object.getPrototypeOf(db) as typeof db, 'command');
    const pings = () => command.mock.calls.filter(({ arguments: [request] }) => 'ping' in request).length;
    const asking = askOften('/readyz');
    const most = await mostRuns(asking);
    expect([...(await asking)]).to.deep.equal(['200 {"ready":true}\n']);
    const before = pings();
    expect(before).to.be.at.most(most);
    await eventually(async () => {
      await askOften('/readyz');
      expect(pings(), 'asked again later').to.be.above(before);
    });
  });

  it('show strangers no metrics in production, whose own port does', async () => {
    const ask = async (
      port: 'clients' | 'own',
      METRICS_TOKEN: string | undefined,
      authorization?: string,
    ) => {
      const config = { DATA_DIR: '/nonexistent', METRICS_TOKEN, production: true };
      const calls = createOperations(config, async () => {}, port);
      const answers = ['/metrics', '/metrics/cluster'].map((path) =>
        calls
          .get(path)?.(authorization)
          .then(
            ({ body }) => (body.includes('process_cpu_seconds_total') ? 'shown' : 'no metrics'),
            ({ code, errors: [text] }) => `${code} ${/METRICS_TOKEN|listed/.exec(text)}`,
          ),
      );
      return Promise.all(answers);
    };
    const closed = 'NOT_FOUND METRICS_TOKEN';
    const unlisted = 'NOT_FOUND listed';
    const refused = 'UNAUTHORIZED METRICS_TOKEN';
    expect(await ask('clients', undefined)).to.deep.equal([closed, closed]);
    expect(await ask('clients', 'operators')).to.deep.equal([refused, refused]);
    expect(await ask('clients', 'operators', 'Bearer operators')).to.deep.equal(['shown', unlisted]);
    expect(await ask('own', undefined)).to.deep.equal(['shown', unlisted]);
    expect(await ask('own', 'operators')).to.deep.equal([refused, refused]);
  });

  it('collect the metrics once a second, however often /metrics is called', async () => {
    const collect = mock.method(register, 'metrics');
    const asking = askOften('/metrics');
    const most = await mostRuns(asking);
    expect((await asking).size).to.be.at.most(most);
    expect(collect.mock.callCount()).to.be.at.most(most);
  });
});
