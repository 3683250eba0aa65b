import { mock } from 'node:test';
import timers from 'node:timers';
import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { rawRequest } from '../support/raw-connection.js';
import { type RawPolling, rawPolling } from '../support/raw-polling.js';
import { clientFrame, handshakeRequest, type RawSocket, rawSocket } from '../support/raw-socket.js';

/*
 * The cases of the Engine.IO protocol's own test suite (protocol 4, github.com/socketio/engine.io-protocol), under the
 * suite's names. The suite of the Socket.IO protocol has 16 of them, too. Its server echoes; ours serves Socket.IO, so
 * that packets of Socket.IO are sent and their answers received.
 */

/** What a session's first packet tells. (PROTOCOL.md) */
const OPENING = { pingInterval: 20_000, pingTimeout: 10_000, maxPayload: 131_072 };

const CONNECT = '40{"token":"member-7"}';

for (const engine of engineNames) {
  describe(`the Engine.IO protocol on ${engine}`, () => {
    let lone: LoneGateway;
    const opened: RawSocket[] = [];
    before(async () => {
      lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
    });
    afterEach(() => {
      mock.restoreAll();
      for (const { socket } of opened.splice(0)) socket.destroy();
    });
    after(stopGateways);

    const statusOf = async (query: string, method = 'GET') =>
      (await fetch(`${lone.base}/socket.io/?${query}`, { method })).status;
    const refusal = (query: string) => rawRequest(lone.base, handshakeRequest(query), /\r\n\r\n/);

    async function webSocket(query?: string): Promise<RawSocket> {
      const socket = await rawSocket(lone.base, query);
      opened.push(socket);
      return socket;
    }

    /** The query of a WebSocket that upgrades a session. */
    const upgradeOf = ({ url }: RawPolling) => new URL(url).search.slice(1).replace('polling', 'websocket');

    async function upgraded(): Promise<[RawPolling, RawSocket]> {
      const session = await rawPolling(lone.base);
      const socket = await webSocket(upgradeOf(session));
      socket.send('2probe');
      await socket.next(/^3probe$/);
      socket.send('5');
      return [session, socket];
    }

    async function admitted(): Promise<RawPolling> {
      const session = await rawPolling(lone.base);
      await session.post([CONNECT]);
      const [connected] = await session.poll();
      expect(connected).to.match(/^40\{"sid":/);
      return session;
    }

    const isGone = async (session: RawPolling) => expect((await fetch(session.url)).status).to.equal(400);

    /** Lets the pauses of these lengths, ms, last as long as a round trip: Engine.IO takes them from `node:timers`. */
    function shorten(...lengths: number[]): void {
      const { setTimeout } = timers;
      mock.method(timers, 'setTimeout', (run: () => void, ms: number) =>
        setTimeout(run, lengths.includes(ms) ? 20 : ms),
      );
    }

    describe('handshake', () => {
      describe('HTTP long-polling', () => {
        it('successfully opens a session', async () => {
          const answer = await fetch(`${lone.base}/socket.io/?EIO=4&transport=polling`);
          expect(answer.status).to.equal(200);
          const { sid, ...rest } = JSON.parse((await answer.text()).replace(/^0/, ''));
          expect(rest).to.deep.equal({ ...OPENING, upgrades: ['websocket'] });
          expect(sid).to.match(/^[\w-]{20}$/);
        });

        it("fails with an invalid 'EIO' query parameter", async () => {
          expect(await statusOf('transport=polling')).to.equal(400);
          expect(await statusOf('EIO=abc&transport=polling')).to.equal(400);
        });

        it("fails with an invalid 'transport' query parameter", async () => {
          expect(await statusOf('EIO=4')).to.equal(400);
          expect(await statusOf('EIO=4&transport=abc')).to.equal(400);
        });

        it('fails with an invalid request method', async () => {
          for (const method of ['POST', 'PUT'])
            expect(await statusOf('EIO=4&transport=polling', method)).to.equal(400);
        });
      });

      describe('WebSocket', () => {
        it('successfully opens a session', async () => {
          const { next } = await webSocket();
          const { sid, ...rest } = JSON.parse((await next(/^0/)).slice(1));
          expect(rest).to.deep.equal({ ...OPENING, upgrades: [] });
          expect(sid).to.match(/^[\w-]{20}$/);
        });

        it("fails with an invalid 'EIO' query parameter", async () => {
          for (const query of ['transport=websocket', 'EIO=abc&transport=websocket'])
            expect(await refusal(query)).to.match(/^HTTP\/1\.1 400 /);
        });

        it("fails with an invalid 'transport' query parameter", async () => {
          for (const query of ['EIO=4', 'EIO=4&transport=abc'])
            expect(await refusal(query)).to.match(/^HTTP\/1\.1 400 /);
        });
      });
    });

    describe('message', () => {
      describe('HTTP long-polling', () => {
        it('sends and receives a payload containing one plain text packet', async () => {
          const session = await rawPolling(lone.base);
          const sent = await fetch(session.url, { method: 'POST', body: CONNECT });
          expect([sent.status, await sent.text()]).to.deep.equal([200, 'ok']);
          const [connected] = await session.poll();
          expect(connected).to.match(/^40\{"sid":/);
        });

        it('sends and receives a payload containing several plain text packets', async () => {
          const session = await admitted();
          const join = (id: number) => `42${id}["room:join",{"chatNo":1}]`;
          expect(await session.post([0, 1, 2].map(join))).to.equal(200);
          const received: string[] = [];
          while (received.length < 3) received.push(...(await session.poll()));
          expect(received.map((packet) => packet.slice(0, 3))).to.deep.equal(['430', '431', '432']);
        });

        it('sends and receives a payload containing plain text and binary packets', async () => {
          // Refused: no event carries bytes, and the session ends. (PROTOCOL.md)
          const session = await admitted();
          await session.post(['420["room:join",{"chatNo":1}]', 'bAQIDBA==']);
          expect((await session.poll()).at(-1)).to.equal('1');
          await isGone(session);
        });

        it('closes the session upon invalid packet format', async () => {
          const session = await rawPolling(lone.base);
          await session.post(['abc']);
          await isGone(session);
        });

        it('closes the session upon duplicate poll requests', async () => {
          const session = await rawPolling(lone.base);
          const first = session.poll();
          // A later request is answered when the first poll has been read.
          await fetch(`${lone.base}/healthz`);
          expect((await fetch(`${session.url}&t=burst`)).status).to.be.oneOf([400, 500]);
          expect(await first).to.deep.equal(['1']);
          await isGone(session);
        });
      });

      describe('WebSocket', () => {
        it('sends and receives a plain text packet', async () => {
          const { send, next } = await webSocket();
          send(CONNECT);
          expect(await next(/^40/)).to.match(/^40\{"sid":/);
        });

        it('sends and receives a binary packet', async () => {
          // Refused with the close code of data that cannot be accepted. (PROTOCOL.md)
          const { socket, closed } = await webSocket();
          const bytes: Buffer[] = [];
          socket.on('data', (chunk: Buffer) => bytes.push(chunk));
          socket.write(clientFrame(Buffer.of(1, 2, 3, 4), { first: 0x82 }));
          await closed;
          expect(Buffer.concat(bytes).includes(Buffer.of(0x03, 0xeb))).to.equal(true);
        });

        it('closes the session upon invalid packet format', async () => {
          const { send, closed } = await webSocket();
          send('abc');
          await closed;
        });
      });
    });

    describe('heartbeat', () => {
      it('HTTP long-polling: sends ping/pong packets', async () => {
        shorten(OPENING.pingInterval);
        const session = await rawPolling(lone.base);
        await session.post([CONNECT]);
        let pings = 0;
        while (pings < 3) {
          if (!(await session.poll()).includes('2')) continue;
          pings += 1;
          expect(await session.post(['3'])).to.equal(200);
        }
      });

      it('HTTP long-polling: closes the session upon ping timeout', async () => {
        shorten(OPENING.pingInterval, OPENING.pingTimeout);
        const session = await rawPolling(lone.base);
        await eventually(() => isGone(session));
      });

      it('WebSocket: sends ping/pong packets', async () => {
        shorten(OPENING.pingInterval);
        const { send, heard } = await webSocket();
        send(CONNECT);
        for (let i = 1; i <= 3; i += 1) {
          await eventually(() => expect(heard.filter((text) => text === '2')).to.have.lengthOf(i));
          send('3');
        }
      });

      it('WebSocket: closes the session upon ping timeout', async () => {
        shorten(OPENING.pingInterval, OPENING.pingTimeout);
        const { closed } = await webSocket();
        await closed;
      });
    });

    describe('close', () => {
      it('HTTP long-polling: forcefully closes the session', async () => {
        const session = await rawPolling(lone.base);
        const [packets] = await Promise.all([session.poll(), session.post(['1'])]);
        expect(packets).to.deep.equal(['6']);
        await isGone(session);
      });

      it('WebSocket: forcefully closes the session', async () => {
        // Engine.IO's server takes no notice of the packet on a WebSocket: the session ends with the ping timeout.
        shorten(OPENING.pingInterval, OPENING.pingTimeout);
        const { send, closed } = await webSocket();
        send('1');
        await closed;
      });
    });

    describe('upgrade', () => {
      it('successfully upgrades from HTTP long-polling to WebSocket', async () => {
        const session = await rawPolling(lone.base);
        const { send, next } = await webSocket(upgradeOf(session));
        send('2probe');
        await next(/^3probe$/);
        // So that the client can end its poll cleanly.
        expect(await session.poll()).to.deep.equal(['6']);
        send('5');
        send(CONNECT);
        await next(/^40/);
      });

      it('ignores HTTP requests with same sid after upgrade', async () => {
        const [session, { send, next }] = await upgraded();
        await isGone(session);
        send(CONNECT);
        await next(/^40/);
      });

      it('ignores WebSocket connection with same sid after upgrade', async () => {
        const [session, { send, next }] = await upgraded();
        expect(await refusal(upgradeOf(session))).to.match(/^HTTP\/1\.1 400 /);
        send(CONNECT);
        await next(/^40/);
      });
    });
  });
}
