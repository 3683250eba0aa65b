import type { Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { openTcp } from '../support/raw-connection.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';

/** Files of the service, and connections: more than that. */
const FILES = 256;
const CONNECTIONS = 400;

/** Connections that certainly get a file. */
const FIRST = 50;

describe('a service that has used up its files', () => {
  let service: ServiceProcess;
  let clients: Socket[];
  before(async () => {
    service = await startServiceProcess({ RATE_LIMIT: 'off', LOG_LEVEL: 'warn' }, { files: FILES });
  });
  beforeEach(() => {
    clients = [];
  });
  afterEach(() => {
    for (const client of clients) client.destroy();
  });
  after(() => service.stop());

  for (const port of ['gateway', 'http'] as const) {
    it(`closes new connections of its ${port} port at once, where it would wait for ever, until files are spare`, async () => {
      const base = service[port];
      const isUp = async () => expect((await fetch(`${base}/healthz`)).status).to.equal(200);
      await isUp();
      const closed: number[] = [];
      for (let i = 0; i < CONNECTIONS; i += 1) clients.push(openTcp(base).on('close', () => closed.push(i)));
      await eventually(() => expect(closed).to.have.length.at.least(CONNECTIONS - FILES));
      expect(Math.min(...closed), 'the first ones stay open').to.be.above(FIRST);
      for (const client of clients) client.destroy();
      await eventually(isUp);
      expect(service.errors()).to.deep.equal([]);
      const warned = service.warnings().filter((line) => line.includes('files left of the'));
      expect(warned, 'one line for both ports').to.have.length(1);
      expect(warned[0]).to.match(/fewer than 64 files left of the 256 .* raise LimitNOFILE/);
      const exposed = await (await fetch(`${base}/metrics`)).text();
      expect(exposed).to.match(/^adoption_limit_hits_total\{limit="files".*\} [1-9]/m);
    });
  }
});
