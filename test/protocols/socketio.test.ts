import { mock } from 'node:test';
import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { clientFrame, type RawSocket, rawSocket } from '../support/raw-socket.js';

/*
 * The cases of the Socket.IO protocol's own test suite (protocol 5, github.com/socketio/socket.io-protocol), under the
 * suite's names; those of the connection below are in engineio.test.ts. Its server admits everybody, has a second
 * namespace and echoes events, bytes included; where ours does not, the case holds what PROTOCOL.md says instead.
 */

const CONNECT = '40{"token":"member-7"}';
const INVALID_NAMESPACE = '{"message":"Invalid namespace"}';

for (const engine of engineNames) {
  describe(`the Socket.IO protocol on ${engine}`, () => {
    let lone: LoneGateway;
    const opened: RawSocket[] = [];
    before(async () => {
      lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
    });
    afterEach(() => {
      mock.timers.reset();
      for (const { socket } of opened.splice(0)) socket.destroy();
    });
    after(stopGateways);

    async function webSocket(): Promise<RawSocket> {
      const socket = await rawSocket(lone.base);
      opened.push(socket);
      await socket.next(/^0/);
      return socket;
    }

    async function admitted(): Promise<RawSocket> {
      const socket = await webSocket();
      socket.send(CONNECT);
      await socket.next(/^40/);
      return socket;
    }

    /** Rejects unless the connection is served. */
    async function expectServed({ send, next }: RawSocket): Promise<void> {
      send('4299["room:join",{"chatNo":1}]');
      expect(await next(/^4399/)).to.match(/^4399\[\{"status":200,/);
    }

    describe('connect', () => {
      it('should allow connection to the main namespace', async () => {
        // With a token only.
        const { send, next } = await webSocket();
        send('40');
        expect(JSON.parse((await next(/^44/)).slice(2))).to.deep.include({ message: 'UNAUTHORIZED' });
      });

      it('should allow connection to the main namespace with a payload', async () => {
        const { send, next } = await webSocket();
        send(CONNECT);
        const handshake = JSON.parse((await next(/^40/)).slice(2));
        expect(handshake).to.have.all.keys('sid');
        expect(handshake.sid).to.be.a('string');
      });

      // There is no other namespace.
      for (const [name, packet] of [
        ['should allow connection to a custom namespace', '40/custom,'],
        ['should allow connection to a custom namespace with a payload', '40/custom,{"token":"abc"}'],
        ['should disallow connection to an unknown namespace', '40/random'],
      ] as const)
        it(name, async () => {
          const socket = await webSocket();
          socket.send(packet);
          const namespace = packet.slice(2).split(',')[0];
          expect(await socket.next(/^44/)).to.equal(`44${namespace},${INVALID_NAMESPACE}`);
          socket.send(CONNECT);
          await socket.next(/^40/);
          await expectServed(socket);
        });

      it('should disallow connection with an invalid handshake', async () => {
        const { send, closed } = await webSocket();
        send('4abc');
        await closed;
      });

      it('should close the connection if no handshake is received', async () => {
        mock.timers.enable({ apis: ['setTimeout'] });
        const { closed } = await webSocket();
        mock.timers.tick(30_000);
        await closed;
      });
    });

    describe('disconnect', () => {
      it('should disconnect from the main namespace', async () => {
        // Which ends the connection, too.
        const { send, closed } = await admitted();
        send('41');
        await closed;
      });

      it('should connect then disconnect from a custom namespace', async () => {
        const socket = await admitted();
        socket.send('40/custom');
        await socket.next(/^44\/custom,/);
        socket.send('41/custom');
        await socket.closed;
      });
    });

    describe('message', () => {
      it('should send a plain-text packet', async () => {
        const socket = await admitted();
        socket.send('42["message",1,"2",{"3":[true]}]');
        await expectServed(socket);
        expect(socket.heard.filter((text) => text.startsWith('43'))).to.have.lengthOf(1);
      });

      it('should send a plain-text packet with an ack', async () => {
        const { send, next } = await admitted();
        send('42456["message-with-ack",1,"2",{"3":[false]}]');
        const [answer] = JSON.parse((await next(/^43456/)).slice(5));
        expect(answer).to.include({ message: 'UNKNOWN_EVENT' });
      });

      // No event carries bytes.
      for (const [name, packet] of [
        ['should send a packet with binary attachments', '452-["message",PLACES]'],
        ['should send a packet with binary attachments and an ack', '452-789["message-with-ack",PLACES]'],
      ] as const)
        it(name, async () => {
          const places = [0, 1].map((num) => JSON.stringify({ _placeholder: true, num }));
          const { send, socket, closed, heard } = await admitted();
          send(packet.replace('PLACES', places.join()));
          socket.write(clientFrame(Buffer.of(1, 2, 3), { first: 0x82 }));
          await closed;
          expect(heard.filter((text) => /^4[36]/.test(text))).to.deep.equal([]);
        });

      for (const [what, packet] of [
        ['unknown packet type', '4abc'],
        ['invalid payload format', '42{}'],
        ['invalid ack id', '42abc["message-with-ack",1,"2",{"3":[false]}]'],
      ] as const)
        it(`should close the connection upon invalid format (${what})`, async () => {
          const { send, closed } = await admitted();
          send(packet);
          await closed;
        });
    });
  });
}
