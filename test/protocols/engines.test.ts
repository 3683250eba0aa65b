import { expect } from 'chai';
import { engineNames } from '../support/engine.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { http1Cases, type Port } from './http1.js';
import { jsonCases } from './json.js';
import { signatureCases } from './signatures.js';

// One service for all: a start of a process costs more than its cases.
for (const [index, engine] of engineNames.entries()) {
  describe(`public test suites, with the gateway on ${engine}`, () => {
    let service: ServiceProcess;
    before(async () => {
      service = await startServiceProcess({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
    });
    after(async () => {
      expect(service.errors()).to.deep.equal([]);
      expect(await service.stop()).to.equal(0);
    });

    // REST is the same beside both engines.
    const ports: Port[] = index === 0 ? ['REST', engine] : [engine];
    for (const port of ports) {
      http1Cases(port, () => service);
      jsonCases(port, () => service);
      signatureCases(port, () => service);
    }
  });
}
