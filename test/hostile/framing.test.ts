import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { service } from '../support/service.js';

const BODY = '40{"token":"garbage"}';

/** One answer, and no other after it. */
const ONCE_400 = /^HTTP\/1\.1 400 Bad Request\r\n(?!.*HTTP\/)/s;

/** Lines that let a request be read in two ways, by what is wrong with them. */
const FAULTS: Record<string, string[]> = {
  'two lengths': ['Content-Length: 20', 'Content-Length: 2'],
  'two lengths, the shorter first': ['Content-Length: 2', 'Content-Length: 20'],
  'the same length twice': ['Content-Length: 20', 'Content-Length: 20'],
  'two lengths in one line': ['Content-Length: 20, 20'],
  'a length in hexadecimal': ['Content-Length: 0x14'],
  'a length with a sign': ['Content-Length: +20'],
  'a negative length': ['Content-Length: -1'],
  'a length and chunks': ['Content-Length: 20', 'Transfer-Encoding: chunked'],
  'chunks and a length': ['Transfer-Encoding: chunked', 'Content-Length: 20'],
  'chunks twice': ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  'chunks within another coding': ['Transfer-Encoding: chunked, gzip'],
  'another coding': ['Transfer-Encoding: gzip'],
  'two hosts': ['Host: y'],
  'the same host twice': ['Host: x'],
};

/** What answers a request with a body, once its connection has been closed. */
async function closedAfter(base: string, path: string, lines: string[], body: string): Promise<string> {
  const connection = rawConnection(base, rawGet(path, '', ...lines).replace(/^GET/, 'POST') + body);
  await connection.ended;
  return connection.text;
}

describe('requests that can be read in two ways', () => {
  for (const engine of engineNames) {
    describe(`at the gateway on ${engine}`, () => {
      let lone: LoneGateway;
      before(async () => {
        lone = await startGateway({ GATEWAY_ENGINE: engine });
      });
      after(stopGateways);

      it('52: are answered 400 and closed, and the session lives', async () => {
        const session = await rawPolling(lone.base);
        const { pathname, search } = new URL(session.url);
        for (const [fault, lines] of Object.entries(FAULTS))
          for (const path of [pathname + search, '/socket.io/?EIO=4&transport=polling', '/healthz'])
            expect(await closedAfter(lone.base, path, lines, 'x'.repeat(20)), `${fault}, ${path}`).to.match(
              ONCE_400,
            );
        expect(await session.post(['40{"token":"member-7"}'])).to.equal(200);
      });

      it('52: are not followed by what stands in their bodies', async () => {
        const { log } = lone;
        const session = await rawPolling(lone.base);
        const { pathname, search } = new URL(session.url);
        const smuggled = `POST ${pathname + search} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
        log.length = 0;
        const lengths = [`Content-Length: 0`, `Content-Length: ${smuggled.length}`];
        for (const lines of [lengths, [...lengths].reverse(), ['Host: y', 'Content-Length: 0']])
          await closedAfter(lone.base, '/healthz', lines, smuggled);
        for (const end of ['0;\n\r\n', '0\r\nab', 'g\r\n', '1;\r\nxab0\r\n\r\n'])
          await closedAfter(lone.base, '/healthz', ['Transfer-Encoding: chunked'], end + smuggled);
        expect(log).to.deep.equal([]);
        expect(await session.post([BODY])).to.equal(200);
      });
    });
  }

  describe('at the HTTP port', () => {
    it('52: are answered 400 and closed, and nothing that follows is read', async () => {
      const { http } = await service();
      for (const [fault, lines] of Object.entries(FAULTS))
        for (const path of ['/healthz', '/demo', '/chatroom/notification'])
          for (const body of ['x'.repeat(20), rawGet('/healthz')])
            expect(await closedAfter(http, path, lines, body), `${fault}, ${path}`).to.match(ONCE_400);
    });
  });
});
