import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { handshakeRequest } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';

describe('requests to Socket.IO that fit no transport', () => {
  for (const engine of engineNames) {
    describe(`on ${engine}`, () => {
      let lone: LoneGateway;
      before(async () => {
        lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
      });
      after(stopGateways);

      /** The status line and body of the first answer on a connection of its own. */
      async function asked(request: string): Promise<string> {
        const { until, socket } = rawConnection(lone.base, request);
        const answer = await until(request.startsWith('HEAD') ? /\r\n\r\n/ : /\r\n\r\n./s);
        socket.destroy();
        return answer;
      }

      const queryOf = ({ url }: { url: string }) => new URL(url).search.slice(1);
      const asWebSocket = (query: string) => query.replace('polling', 'websocket');

      /** The session of a client that has a WebSocket. */
      async function webSocketSid(transports: string[]): Promise<string> {
        const { socket } = await connect({ token: 'member-7' }, { transports }, lone.base);
        await eventually(() => expect(socket.io.engine.transport.name).to.equal('websocket'));
        return `EIO=4&transport=polling&sid=${socket.io.engine.id}`;
      }

      it('2: an upgrade with another transport than `websocket` is 400, and its session lives', async () => {
        const session = await rawPolling(lone.base);
        const sid = queryOf(session).replace('EIO=4&transport=polling', '');
        for (const transport of [
          'polling',
          'WebSocket',
          'websocket ',
          'webtransport',
          'flash',
          '',
          '__proto__',
        ])
          for (const rest of [sid, '', `${sid}&transport=websocket&transport=polling`])
            expect(
              await asked(handshakeRequest(`EIO=4&transport=${encodeURIComponent(transport)}${rest}`)),
              transport + rest,
            ).to.match(/^HTTP\/1\.1 400 .*INVALID_INPUT.*transport=websocket/s);
        expect(await session.post(['40{"token":"member-7"}'])).to.equal(200);
      });

      it('2: a request that names `websocket` without an upgrade is 400, whatever session it names', async () => {
        const session = await rawPolling(lone.base);
        const upgraded = await webSocketSid(['polling', 'websocket']);
        const direct = await webSocketSid(['websocket']);
        for (const query of [
          queryOf(session),
          upgraded,
          direct,
          'EIO=4&transport=polling&sid=forged',
          'EIO=4&transport=polling',
        ])
          for (const method of ['GET', 'POST', 'PUT', 'HEAD'])
            expect(
              await asked(rawGet(`/socket.io/?${asWebSocket(query)}`).replace('GET', method)),
              `${method} ${query}`,
            ).to.match(method === 'HEAD' ? /^HTTP\/1\.1 400 .*\r\n\r\n$/s : /^HTTP\/1\.1 400 /);
        expect(await session.post(['40{"token":"member-7"}'])).to.equal(200);
      });

      it('2: a second WebSocket, and long-polling, of a session that has one are 400', async () => {
        for (const query of [
          await webSocketSid(['polling', 'websocket']),
          await webSocketSid(['websocket']),
        ]) {
          expect(await asked(handshakeRequest(asWebSocket(query)))).to.match(/^HTTP\/1\.1 400 /);
          expect(await asked(rawGet(`/socket.io/?${query}`))).to.match(/^HTTP\/1\.1 400 /);
          expect(
            await asked(`${rawGet(`/socket.io/?${query}`, '', 'Content-Length: 1').replace('GET', 'POST')}3`),
          ).to.match(/^HTTP\/1\.1 400 /);
        }
        const session = await rawPolling(lone.base);
        const first = rawConnection(lone.base, handshakeRequest(asWebSocket(queryOf(session))));
        await first.until(/ 101 /);
        expect(await asked(handshakeRequest(asWebSocket(queryOf(session))))).to.match(/^HTTP\/1\.1 400 /);
        first.socket.destroy();
        expect(await session.post(['40{"token":"member-7"}'])).to.equal(200);
      });

      it('a second request of one kind at a time is 400, and ends the session', async () => {
        for (const second of [
          rawGet,
          (path: string) => rawGet(path, '', 'Content-Length: 9').replace('GET', 'POST'),
        ]) {
          const session = await rawPolling(lone.base);
          const path = `/socket.io/?${queryOf(session)}`;
          const before = lone.io.engine.clientsCount;
          const first = rawConnection(lone.base, second(path));
          await eventually(() => {
            const { transport } = (
              lone.io.engine as unknown as {
                clients: Record<string, { transport: { req?: object; dataReq?: object } }>;
              }
            ).clients[new URLSearchParams(queryOf(session)).get('sid') as string] as {
              transport: { req?: object; dataReq?: object };
            };
            expect(transport.req ?? transport.dataReq).to.be.an('object');
          });
          expect(await asked(second(path))).to.match(/^HTTP\/1\.1 400 .*under way/s);
          expect(lone.io.engine.clientsCount).to.equal(before - 1);
          first.socket.destroy();
        }
      });

      it('a key alone makes no handshake of a WebSocket', async () => {
        const query = 'EIO=4&transport=websocket';
        for (const [lacking, other] of [
          [/^Upgrade: .*$/m, 'Upgrade: h2c'],
          [/^Connection: .*$/m, 'Connection: keep-alive'],
          [/^Sec-WebSocket-Version: .*$/m, 'Sec-WebSocket-Version: 99'],
        ] as const)
          for (const request of [
            handshakeRequest(query).replace(lacking, 'X: x'),
            handshakeRequest(query).replace(lacking, other),
          ])
            expect(await asked(request), request).to.match(/^HTTP\/1\.1 400 /);
        const polls = rawGet(
          '/socket.io/?EIO=4&transport=polling',
          '',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        );
        expect(await asked(polls)).to.match(/^HTTP\/1\.1 200 /);
        const lines = handshakeRequest(query).replace(
          'Connection: Upgrade',
          'Connection: keep-alive, upgrade',
        );
        for (const request of [lines, lines.replace(', upgrade', '\r\nConnection: Upgrade\r\nConnection: x')])
          expect(await asked(request), request).to.match(/^HTTP\/1\.1 101 /);
      });

      it('an upgrade with a body is 400 and closed, and packets are not taken and lost', async () => {
        for (const lines of [['Content-Length: 5'], ['Transfer-Encoding: chunked']]) {
          const connection = rawConnection(lone.base, `${handshakeRequest(undefined, lines)}0\r\n\r\n`);
          await connection.ended;
          expect(connection.text, String(lines)).to.match(/^HTTP\/1\.1 400 .*INVALID_INPUT/s);
        }
        const session = await rawPolling(lone.base);
        const body = '40{"token":"member-7"}';
        const asksH2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
        const lines = [...asksH2c, `Content-Length: ${body.length}`];
        const answer = await asked(
          rawGet(`/socket.io/?${queryOf(session)}`, '', ...lines).replace('GET', 'POST') + body,
        );
        if (/^HTTP\/1\.1 400 .*Upgrade/s.test(answer)) expect(await session.post([body])).to.equal(200);
        else expect(answer).to.match(/^HTTP\/1\.1 200 /);
        expect((await session.poll())[0]).to.match(/^40\{"sid"/);
      });

      it('JSONP is 400, whose packets cannot be counted', async () => {
        for (const j of ['0', '', 'x'])
          expect(await asked(rawGet(`/socket.io/?EIO=4&transport=polling&j=${j}`)), j).to.match(
            /^HTTP\/1\.1 400 .*JSONP/s,
          );
      });

      it('`Connection: close` is answered with the same, and the connection is closed', async () => {
        for (const path of ['/healthz', '/nowhere', '/socket.io/?EIO=4&transport=polling', '/socket.io/'])
          for (const asks of ['close', 'Close', 'keep-alive, close', 'close, TE']) {
            const connection = rawConnection(lone.base, rawGet(path, '', `Connection: ${asks}`));
            await connection.ended;
            expect(connection.text, `${path} ${asks}`).to.match(
              /^HTTP\/1\.1 [24]\d\d (?:(?!\r\n\r\n).)*\r\nConnection: close\r\n/s,
            );
            expect(connection.text.match(/^Connection:/gim), path).to.have.length(1);
          }
      });

      it('other methods of a session are 405', async () => {
        const session = await rawPolling(lone.base);
        for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
          expect(await asked(rawGet(`/socket.io/?${queryOf(session)}`).replace('GET', method))).to.match(
            /^HTTP\/1\.1 405 .*METHOD_NOT_ALLOWED/s,
          );
        expect(await session.post(['40{"token":"member-7"}'])).to.equal(200);
      });
    });
  }
});
