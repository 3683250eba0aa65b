import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { isSameServer } from '../../../scripts/doctor/address.js';
import { judgeProxy } from '../../../scripts/doctor/settings.js';
import { statusInPieces } from '../../../scripts/doctor/split-request.js';
import { service } from '../../support/service.js';
import { examine, serviceSettings } from './examine.js';

describe('npm run doctor, of what strangers reach', () => {
  it('finds clients that reach a process with no proxy in front', () => {
    expect(judgeProxy({ HOST: '127.0.0.1', TRUST_PROXY: 0 }).result).to.equal('ok');
    expect(judgeProxy({ HOST: '::1', TRUST_PROXY: 0 }).result).to.equal('ok');
    expect(judgeProxy({ HOST: '0.0.0.0', TRUST_PROXY: 1 }).result).to.equal('ok');
    expect(judgeProxy({ HOST: '0.0.0.0', TRUST_PROXY: 0 }).result).to.equal('warning');
  });

  it('finds polling that is open to everybody, and an engine that needs a request line in one piece', async () => {
    const { http, gateway } = await service();
    const { lines } = await examine(await serviceSettings(), ['--url', http, '--gateway-url', gateway]);
    expect(lines.sticky).to.match(/met one gateway; anybody may open one → .*refuse it in a proxy/);
    // The answer tells which engine serves: what the doctor says must agree with it, whichever it is.
    const answersInPieces = (await statusInPieces(new URL(gateway))) !== 505;
    expect(lines.pieces).to.match(answersInPieces ? /^ok: / : /^warning: .* 505 → GATEWAY_ENGINE=ws/);
    if (!answersInPieces) expect(lines.engine).to.match(/^warning: .*is old: it answers 505/);
  });

  it('blames no proxy where --url is the service’s own port, and finds its sockets', async () => {
    const { http } = await service();
    const { lines } = await examine(await serviceSettings(), [
      '--url',
      http.replace('127.0.0.1', 'localhost'),
    ]);
    expect(lines.address).to.match(/^ok: /);
    expect(lines.socket).to.match(/^ok: a socket opens .*, and is admitted$/);
    for (const check of ['event stream', 'sticky', 'address'])
      expect(lines[check], check).not.to.match(/the proxy/);
    expect(isSameServer('http://localhost:8080/', 'http://127.0.0.1:8080')).to.equal(true);
    expect(isSameServer('https://app.example.org', 'http://127.0.0.1:8080')).to.equal(false);
  });

  it('finds whether the answer to a request in pieces is that of a whole one', async () => {
    const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await statusInPieces(new URL(`http://127.0.0.1:${port}/x?y=1`))).to.equal(404);
    server.close();
    await once(server, 'close');
    const gone = await statusInPieces(new URL(`http://127.0.0.1:${port}/`)).catch(String);
    expect(gone).to.include(`127.0.0.1:${port} does not answer a request in pieces`);
  });
});
